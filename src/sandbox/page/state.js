// What the page knows, kept current by the stream.

const state = {
  bookings: new Map(), requests: new Map(), messages: new Map(), deliveries: new Map(),
  faults: [], organizations: new Map(), clock: null, clockRead: 0, keys: [], controls: {}, isLoaded: false,
};

/** What is said where there is nothing. Before the first answers, nobody knows that. */
const absent = (text) => (state.isLoaded ? text : 'Loading…');

const listeners = new Set();
let isDrawing = false;
/** Draws once per frame, however many events came. */
function changed() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    for (const draw of listeners) draw();
  });
}

function fill(map, list, id) {
  map.clear();
  for (const it of list) map.set(it[id], it);
}

/** What each event does to the state. */
const events = {
  request(it) {
    state.requests.set(it.id, it);
    if (state.requests.size > 1000) state.requests.delete(state.requests.keys().next().value);
  },
  booking(it) { state.bookings.set(it.id, it); },
  message(it) { state.messages.set(it.id, it); },
  delivery(it) { state.deliveries.set(it.event_id, it); },
  clock(it) { state.clock = it; state.clockRead = Date.now(); },
  fault(it) { state.faults = it.faults; },
  organization(it) {
    fill(state.organizations, it.organizations, 'id');
    // An organization that was added has keys.
    call('GET', '/sandbox/keys').then(({ keys }) => { state.keys = keys; changed(); }, () => {});
  },
};

/** Reads everything once. Events that come meanwhile are newer, and applied after it. */
let waiting = null;
async function load() {
  if (waiting) return;
  waiting = [];
  try {
    const get = (path) => call('GET', path);
    const [bookings, requests, inbox, deliveries, faults, clock, keys] = await Promise.all([
      get('/sandbox/bookings'), get('/sandbox/requests?limit=1000'), get('/sandbox/inbox'), get('/sandbox/deliveries'),
      get('/sandbox/faults'), get('/sandbox/clock'), get('/sandbox/keys'),
    ]);
    fill(state.bookings, bookings.bookings, 'id');
    fill(state.requests, requests.requests.reverse(), 'id');
    fill(state.messages, inbox.messages.reverse(), 'id');
    fill(state.deliveries, deliveries.deliveries, 'event_id');
    events.fault(faults);
    events.clock(clock);
    state.keys = keys.keys;
    const ids = [...new Set(state.keys.map((it) => it.organization))];
    const settings = await Promise.all(ids.map((id) => get(`/sandbox/organization?organization=${encodeURIComponent(id)}`).catch(() => null)));
    fill(state.organizations, settings.filter(Boolean), 'id');
    state.isLoaded = true;
  } catch (error) {
    say(`The sandbox could not be read: ${error.message}`);
  }
  const missed = waiting;
  waiting = null;
  for (const [name, document] of missed) events[name](document);
  changed();
}

let reloadTimer;
function follow() {
  const connection = document.getElementById('connection');
  const source = new EventSource('/sandbox/stream');
  source.onopen = () => {
    connection.textContent = 'live';
    load();
  };
  source.onerror = () => {
    connection.textContent = 'not connected; trying again';
    // The browser gives up after an answer that is no stream.
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 1000);
  };
  for (const name of Object.keys(events)) {
    source.addEventListener(name, (event) => {
      const document = JSON.parse(event.data);
      if (waiting) waiting.push([name, document]);
      else {
        events[name](document);
        changed();
      }
    });
  }
  source.addEventListener('reset', () => {
    clearTimeout(reloadTimer);
    reloadTimer = setTimeout(load, 300);
  });
}

/** What the sandbox offers beyond what every sandbox has, by its own description. */
async function readControls() {
  try {
    state.controls = await call('GET', '/sandbox/openapi.json');
    changed();
  } catch {
    // A sandbox without a description. What it may not have is not shown.
  }
}

/** Whether a control exists and, if a field is named, takes it. */
function offers(method, path, field) {
  const operation = state.controls.paths?.[path]?.[method.toLowerCase()];
  if (!operation || !field) return Boolean(operation);
  const body = JSON.stringify(operation.requestBody ?? {});
  const named = [...body.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => JSON.stringify(state.controls.components.schemas[name]));
  return [body, ...named].some((it) => it.includes(`"${field}"`));
}

/** A key with which the page makes the service's own calls. */
function keyOf(organization) {
  const usable = state.keys.filter((it) => it.organization === organization && it.scopes.includes('bookings:write'));
  return (usable.find((it) => it.kind === 'live') ?? usable[0])?.key;
}

const newest = (map) => [...map.values()].reverse();

/** The sandbox's clock at this moment. */
function sandboxNow() {
  return state.clock ? new Date(new Date(state.clock.now).getTime() + Date.now() - state.clockRead) : new Date();
}

