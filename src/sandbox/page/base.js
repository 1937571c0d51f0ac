// Elements, times and calls. Text from outside becomes a text node and nothing else.

/** An element with attributes (functions listen to events) and children. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (key === 'value') element.value = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((it) => it !== undefined && it !== null && it !== false && it !== ''));
  return element;
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** A length of time: `21 min 5 s`. */
function duration(seconds) {
  let rest = seconds;
  const shown = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]].map(([unit, size]) => {
    const whole = Math.floor(rest / size);
    rest %= size;
    return whole && `${whole} ${unit}`;
  });
  return shown.filter(Boolean).join(' ') || '0 s';
}

const button = (text, click, more = {}) => el('button', { type: 'button', click, ...more }, text);

/** A list of names and values; rows without a value are left out. */
function fields(rows) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return el('dl', {}, shown.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

const twoDigits = (number) => String(number).padStart(2, '0');

/** A moment in the reader's zone, with UTC on hover. */
function time(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text ?? '');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
  const day = date.toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
  const isFarther = Math.abs(date.getTime() - Date.now()) > 12 * 3600 * 1000;
  const shown = isFarther ? `${day}, ${clock}` : clock;
  return el('time', { datetime: date.toISOString(), title: date.toISOString().replace('T', ' ').replace('Z', ' UTC') }, shown);
}

/** The time at the venue, as the booking has it, with UTC on hover. */
function venueTime(text) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text ?? '');
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(text) ?? [];
  const weekday = new Date(`${day}T12:00:00Z`).toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
  const local = `${date.toLocaleString()} here, ${date.toISOString().replace('T', ' ').replace('.000Z', ' UTC')}`;
  return el('time', { datetime: date.toISOString(), title: local }, `${weekday}, ${clock}`);
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

const copyButton = (text, label = 'Copy', more = {}) => button(label, () => copy(typeof text === 'function' ? text() : text), more);

/** A shell word. */
const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);

/** Calls the sandbox; throws an error that says what a refusal says. With a key it is a call of the service. */
async function call(method, path, body, key) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (key) headers.Authorization = `Bearer ${key}`;
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
    throw Object.assign(new Error(why ?? `The answer was ${response.status}.`), { status: response.status });
  }
  return document;
}

/** Runs what a button does, and says how it ended. */
function act(work, done) {
  return async (event) => {
    event?.preventDefault();
    try {
      const answer = await work(event);
      if (done) say(typeof done === 'function' ? done(answer) : done);
    } catch (error) {
      say(error.message);
    }
  };
}

