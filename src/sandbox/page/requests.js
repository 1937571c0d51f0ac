// Requests: what the service was sent, and its responses.

const guests = new WeakMap();
/** The guest that a request names, or whose booking it is about. */
function guestOfRequest(it) {
  const known = guestOf(it.booking_id);
  if (known) return known;
  if (!guests.has(it)) {
    let name;
    try {
      name = JSON.parse(it.request.body).customer.name;
    } catch {
      // A request without a guest.
    }
    guests.set(it, typeof name === 'string' ? name : undefined);
  }
  return guests.get(it);
}

const requestText = (it) => [it.id, it.method, it.path, it.status, `${String(it.status)[0]}xx`, it.booking_id, it.session_id, guestOfRequest(it),
  it.reason, it.fault, it.idempotency_key,
  it.request.body, it.response.body].join(' ');

function requestsView() {
  const rows = table('Requests', [
    ['Time', 'w-s line', (it) => time(it.at)],
    ['Request', 'lead', (it) => [el('span', { class: 'mono quiet' }, it.method, ' '), opener('requests', it.id, it.path),
      (it.reason || it.fault) && el('span', { class: 'quiet sub', title: it.reason }, it.fault ? `fault: ${spaced(it.fault)}. ` : '', it.reason ?? ''),
      it.notes.length > 0 && el('span', { class: 'quiet sub warn toned' }, it.notes[0])]],
    ['Status', 'w-s state', (it) => statusWord(it.status)],
    ['ms', 'w-xs line end ms', (it) => it.duration_ms.toFixed(1)],
    ['Guest or booking', 'w-l', (it) => el('span', { dir: 'auto' }, guestOfRequest(it) ?? it.booking_id ?? '')],
    organizationColumn,
  ], (it) => it.id, emptyState('No requests yet', 'Each request of your program appears here, with what the service responded and why.',
    bookButton('Send a request', 'confirms', { class: 'main' }), copyButton(() => bookingCommand('ven_confirms', 'provider_a'), 'Copy curl'),
    copyButton(() => exportLines(keyOf(chosen()), chosen()), 'Copy export lines')));
  return {
    node: [heading('Requests', ''), rows.node],
    update: () => rows.update(filtered(newest(state.requests), requestText), state.requests.size),
  };
}

const headerLines = (headers) => Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`).join('\n');

/** Headers and body of one direction. */
function message(title, it) {
  if (!it) return null;
  return el('section', { class: 'card pad stack' }, el('h3', {}, title), el('details', {}, el('summary', {}, 'Headers'), block(headerLines(it.headers))),
    it.encoding === 'base64' && el('p', { class: 'quiet' }, 'The body is not text. As Base64:'),
      it.body ? block(laidOut(it.body)) : el('p', { class: 'quiet' }, 'No body'),
    it.truncated && el('p', { class: 'warn toned' }, 'The log has only the beginning.'));
}

function requestView(id) {
  const box = el('div', {});
  let drawn;
  const update = () => {
    const it = state.requests.get(id);
    if (it && it === drawn) return;
    drawn = it;
    if (!it) {
      box.replaceChildren(state.isLoaded ? heading('There is no such request', 'The log has the last 1,000 requests.') : 'Loading…');
      return;
    }
    const curl = async () => {
      const { curl: command } = await call('GET', `/sandbox/requests/${encodeURIComponent(id)}`);
      if (!command) throw new Error('The log has only a part of this request, so there is no command for it.');
      return command;
    };
    box.replaceChildren(el('div', { class: 'stack' },
      el('div', { class: 'head' }, statusWord(it.status), el('h2', {}, `${it.method} ${it.path}`), el('div', { class: 'row' }, copyButton(curl, 'Copy as curl')),
        it.query && el('p', {}, `?${it.query}`)),
      it.reason && el('div', { class: 'card pad' }, el('h3', {}, 'Why'), el('p', {}, it.reason)),
      it.notes.length > 0 && el('div', { class: 'card pad' }, el('h3', {}, 'Notes'), el('ul', { class: 'stack' }, it.notes.map((note) => el('li', {}, note)))),
      el('div', { class: 'card pad' }, facts([['Time', time(it.at)], ['Took', `${it.duration_ms} ms`],
        ['Booking', it.booking_id && link('bookings', it.booking_id, guestOf(it.booking_id) ?? it.booking_id)],
        ['Session', it.session_id], ['Key', it.key && el('span', { class: 'mono' }, it.key)], ['Organization', nameOf(it.organization)],
        ['Idempotency key', it.idempotency_key && el('span', { class: 'mono' }, it.idempotency_key)], ['Fault', it.fault && spaced(it.fault)],
          ['Request', el('span', { class: 'mono' }, id)]])),
      el('div', { class: 'sides' }, message('Request', it.request), message('Response', it.response))));
  };
  return { node: [el('a', { class: 'crumb', href: '#requests' }, '← Requests'), box], update };
}

