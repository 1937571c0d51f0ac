// What the page knows, kept current by the stream.

const state = {
  bookings: new Map(), requests: new Map(), messages: new Map(), deliveries: new Map(),
  faults: [], organizations: new Map(), clock: null, clockRead: 0, keys: [], errorCodes: [], isLoaded: false,
};

/** What every section is filtered by. It stands in the address, so that it outlasts going back and reloading. */
const filter = { search: '', organization: '' };
function readFilter() {
  const query = new URLSearchParams(location.search);
  filter.search = query.get('search') ?? '';
  filter.organization = query.get('organization') ?? '';
}
function setFilter(change) {
  Object.assign(filter, change);
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value)).toString();
  history.replaceState(null, '', `${location.pathname}${query && `?${query}`}${location.hash}`);
  changed();
}

/** A control's path for the chosen organization, or for all. */
const scoped = (path) => (filter.organization ? `${path}?organization=${encodeURIComponent(filter.organization)}` : path);
const chosen = () => filter.organization || 'org_sandbox';
const nameOf = (organization) => state.organizations.get(organization)?.name ?? organization ?? '';

/** Whether it belongs to the chosen organization, or to none. */
const isOwned = (it) => !filter.organization || [undefined, filter.organization].includes(it.organization);

const texts = new WeakMap();
/** Those of a list that the filter lets through. `text` returns what the search looks at. */
function filtered(items, text) {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((it) => {
    if (!isOwned(it) || words.length === 0) return isOwned(it);
    if (!texts.has(it)) texts.set(it, text(it).toLowerCase());
    const all = `${texts.get(it)} ${it.organization} ${nameOf(it.organization)}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

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
    connection.className = 'good';
    load();
  };
  source.onerror = () => {
    connection.textContent = 'not connected; trying again';
    connection.className = 'bad';
    // The browser gives up after a response that is no stream.
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

/** A key with which the page makes the service's own calls. */
function keyOf(organization) {
  const usable = state.keys.filter((it) => it.organization === organization && it.scopes.includes('bookings:write'));
  return (usable.find((it) => it.kind === 'live') ?? usable[0])?.key;
}

const newest = (map) => [...map.values()].reverse();

/** The clock of an organization: its time at this moment, by how many seconds it is ahead, and whether it stands still. */
function clockOf(organization) {
  const own = state.clock?.organizations?.find((it) => it.id === organization) ?? state.clock;
  if (!own) return { now: new Date(), ahead: 0, isFrozen: false };
  const isFrozen = Boolean(own.frozen);
  const passed = isFrozen ? 0 : Date.now() - state.clockRead;
  const now = new Date(new Date(own.now).getTime() + passed);
  return { now, ahead: own.offset_seconds ?? Math.round((now.getTime() - Date.now()) / 1000), isFrozen };
}

/** A booking request for tomorrow evening by the organization's clock. */
function bookingRequest(venue, provider, isPayment) {
  const day = new Date(clockOf(chosen()).now.getTime() + 24 * 3600 * 1000).toISOString().slice(0, 10);
  return { venue_id: venue, provider, datetime: `${day}T19:30:00Z`, party_size: 2, customer: { name: 'Ada Lovelace', phone: '+442079460000' },
    ...(isPayment ? { payment_collection: 'vendor_external' } : {}) };
}

const book = (request) => call('POST', '/v1/bookings', request, keyOf(chosen()));
/** A button that books at a scenario's venue of provider A. */
const bookButton = (label, scenario, more) => button(label,
  act(() => book(bookingRequest(`ven_${scenario}`, 'provider_a')), (it) => `Booking ${it.id} has status ${it.status}.`), more);
