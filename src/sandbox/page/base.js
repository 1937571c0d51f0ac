// Elements, times and calls. Text from outside becomes a text node and nothing else.

function fillElement(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((it) => it !== undefined && it !== null && it !== false && it !== ''));
  return element;
}

/** An element with attributes (functions listen to events) and children. */
const el = (name, attributes = {}, ...children) => fillElement(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fillElement(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

const count = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

/** A length of time, its two largest units: `21 min 5 s`. */
function duration(seconds) {
  let rest = Math.round(seconds);
  const parts = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]].map(([unit, size]) => {
    const whole = Math.floor(rest / size);
    rest %= size;
    return whole && `${whole} ${unit}`;
  });
  return parts.filter(Boolean).slice(0, 2).join(' ') || '0 s';
}

const button = (text, click, more = {}) => el('button', { type: 'button', click, ...more }, text);
const field = (name, control) => el('label', { class: 'field' }, name, control);
const spaced = (word) => String(word).replaceAll('_', ' ');

/** A list of names and values; rows without a value are left out. */
function facts(rows) {
  const present = rows.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return el('dl', {}, present.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

const clockText = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map((it) => String(it).padStart(2, '0')).join(':');
const utcText = (date) => `${date.toISOString().slice(0, 23).replace('T', ' ')} UTC`;

/** A moment in the reader's zone, with UTC on hover. */
function timeText(text) {
  const date = new Date(text);
  const day = date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return Math.abs(date.getTime() - Date.now()) > 12 * 3600 * 1000 ? `${day}, ${clockText(date)}` : clockText(date);
}
function time(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text ?? '');
  return el('time', { datetime: date.toISOString(), title: utcText(date) }, timeText(text));
}

/** The time at the venue, as the booking has it, with UTC on hover. */
function venueTime(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text ?? '');
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(text) ?? [];
  const weekday = new Date(`${day}T12:00:00Z`).toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
  return el('time', { datetime: date.toISOString(), title: `${date.toLocaleString()} here, ${utcText(date)}` }, `${weekday}, ${clock}`);
}

/** JSON laid out, other text as it came. */
function laidOut(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

const block = (text) => el('pre', { tabindex: '0' }, text);

let noticeTimer;
/** Says something at the edge of the page, to screen readers too. */
function say(text) {
  const notice = document.getElementById('notice');
  notice.textContent = text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { notice.textContent = ''; }, 6000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch {
    say(`The browser did not allow copying. Copy it by hand: ${text}`);
  }
}

/** Copies a text, or what a function returns or promises. */
const copyButton = (text, label = 'Copy', more = {}) => button(label, act(async () => copy(typeof text === 'function' ? await text() : text)), more);

/** A shell word. */
const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);

/** Calls the sandbox; throws an error that says what a refusal says. With a key it is a call of the service. */
async function call(method, path, body, key) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (key) headers.Authorization = `Bearer ${key}`;
  if (path === '/v1/bookings') headers['Idempotency-Key'] = crypto.randomUUID();
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await response.text();
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    document = { error: text };
  }
  if (!response.ok) {
    const why = document.fields ? Object.entries(document.fields).map(([name, it]) => `${name} ${it}`).join('; ') : document.error ?? document.error_message;
    throw Object.assign(new Error(why ?? `The response was ${response.status}.`), { status: response.status });
  }
  return document;
}

/** Runs what a button does, and says how it ended. */
function act(work, done) {
  return async (event) => {
    event?.preventDefault();
    try {
      const result = await work(event);
      if (done) say(typeof done === 'function' ? done(result) : done);
    } catch (error) {
      say(error.message);
    }
  };
}

/** Shows a form in front of the page; `work` gets its values. */
function openDialog(title, controls, action, work, done) {
  const dialog = document.getElementById('dialog');
  const values = () => Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, control.value]));
  const submit = async (event) => {
    event.preventDefault();
    dialog.close();
    await act(() => work(values()), done)();
  };
  dialog.replaceChildren(el('form', { class: 'stack', submit }, el('h3', { id: 'dialog-title' }, title),
    Object.entries(controls).map(([name, control]) => field(spaced(name), control)),
    el('div', { class: 'row' }, button('Back', () => dialog.close()), el('button', { class: 'main' }, action))));
  dialog.showModal();
}

