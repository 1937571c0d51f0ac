// Bookings: the list, and one booking with its diagram, its facts and its timeline.

const statuses = ['requires_action', 'processing', 'confirmed', 'failed', 'cancelled', 'expired'];
const bookingText = (it) => [it.id, it.status, spaced(it.status), it.customer?.name, it.customer?.phone, it.customer?.email, it.venue_name, it.venue_id,
  it.datetime, it.error_code, it.provider].join(' ');

/** `46.00 EUR`, of an amount in minor units. */
function money({ amount, currency }) {
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;
  return `${(amount / 10 ** digits).toFixed(digits)} ${currency}`;
}

function bookingsView() {
  const rows = table('Bookings', [
    ['Guest', 'lead', (it) => opener('bookings', it.id, it.customer?.name ?? it.id)],
    ['Venue', '', (it) => el('span', { dir: 'auto' }, it.venue_name)],
    ['When', 'w-m line', (it) => venueTime(it.datetime)],
    ['Party', 'w-xs end party', (it) => it.party_size],
    ['Status', 'w-l state', (it) => [stateWord(it.status), it.error_code && el('span', { class: 'quiet sub' }, it.error_code)]],
    organizationColumn,
    ['Made', 'w-s line', (it) => time(it.created_at)],
  ], (it) => it.id, emptyState('No bookings yet', 'Book at one of the sandbox\'s venues, or send a request from your program.',
    bookButton('Book a table', 'confirms', { class: 'main' }), bookButton('Book with a one-time code', 'otp'),
    copyButton(() => bookingCommand('ven_otp', 'provider_a'), 'Copy curl')));
  const chips = el('div', { class: 'chips', role: 'group', 'aria-label': 'Status' });
  return {
    node: [heading('Bookings', '', bookButton('Book a table', 'confirms')), chips, rows.node],
    update() {
      const all = newest(state.bookings);
      const perState = new Map();
      for (const it of all) {
        if (!filter.organization || it.organization === filter.organization) perState.set(it.status, (perState.get(it.status) ?? 0) + 1);
      }
      const words = [...perState.keys()].sort((a, b) => (statuses.indexOf(a) + 1 || 9) - (statuses.indexOf(b) + 1 || 9))
        .map((name) => ({ name, number: perState.get(name), isPressed: filter.search === spaced(name) }));
      keyedValues(chips, words, (it) => it.name, ({ name, number, isPressed }) => button(
        [spaced(name), el('span', { class: 'number' }, number.toLocaleString('en'))],
        () => setFilter({ search: isPressed ? '' : spaced(name) }), { 'aria-pressed': String(isPressed) }));
      rows.update(filtered(all, bookingText), all.length);
    },
  };
}

/** The states that a booking was in, with times. An expiry has no event. */
function pathOf(booking, bookingEvents) {
  const path = bookingEvents.map((it) => ({ state: it.type.replace('booking.', ''), at: it.created_at }))
    .filter((it) => !['created', 'modified'].includes(it.state));
  if (path.at(-1)?.state !== booking.status) path.push({ state: booking.status, at: path.length === 0 ? booking.created_at : booking.updated_at });
  return path;
}

/** Whether a request may have caused what happened then: it changes something, and was under way. */
const mayCause = (request, at) => request.method !== 'GET' && request.status < 400
  && Date.parse(at) <= Date.parse(request.at) && Date.parse(at) >= Date.parse(request.at) - request.duration_ms - 5;

/** The state that a request's own response shows. */
function resultOf(request) {
  if (request.path.endsWith('/modify')) return 'modified';
  try {
    return JSON.parse(request.response.body).status;
  } catch {
    return undefined;
  }
}

/** The states that a booking entered and the text messages that it sent, in the order in which they were committed. */
function effectsOf(booking, bookingEvents) {
  const happened = bookingEvents.map((it) => ({ id: it.id, at: it.created_at, state: it.type.replace('booking.', '') }));
  if (happened.findLast((it) => !['created', 'modified'].includes(it.state))?.state !== booking.status) {
    happened.push({ id: booking.status, at: booking.updated_at, state: booking.status });
  }
  const texts = [...state.messages.values()].filter((it) => it.booking_id === booking.id)
    .map((it) => ({ id: it.id, at: it.created_at, what: [`message to ${it.to}`], more: it.text }));
  const number = (it) => it.id.split('_')[1] ?? '';
  return [...happened, ...texts].sort((a, b) => a.at.localeCompare(b.at) || number(a).localeCompare(number(b)));
}

/** What happened to a booking: each cause, and after it what it brought about. */
function timelineOf(booking, bookingEvents) {
  const requests = [...state.requests.values()].filter((it) => it.booking_id === booking.id).map((it, order) => ({
    id: it.id, at: it.at, from: Date.parse(it.at), rank: 0, order, request: it, tone: it.status >= 400 || it.status === 0 ? 'bad' : 'good', more: it.reason,
    what: [link('requests', it.id, `${it.method} ${it.path.replace(booking.id, '…')}`), ' returned ', el('span', { class: 'toned' }, it.status || 'nothing')],
  }));
  const done = new Set();
  let last;
  const effects = effectsOf(booking, bookingEvents).map((it, index) => {
    // Where the clock stands still, all have the same time: each request brings about what its own response shows.
    const possible = requests.filter(({ request }) => mayCause(request, it.at));
    const cause = it.state ? possible.find((one) => !done.has(one)) : possible.find((one) => one === last);
    if (cause && resultOf(cause.request) === it.state) done.add(cause);
    if (cause) cause.from = Math.min(cause.from, Date.parse(it.at));
    last = cause;
    return { ...it, cause, index, tone: it.state ? tones[it.state] ?? 'idle' : 'busy',
      what: it.what ?? [it.state === 'created' ? 'created' : `became ${spaced(it.state)}`] };
  }).map((it) => ({ ...it, from: it.cause?.from ?? Date.parse(it.at), rank: it.cause ? 0 : 1,
    order: it.cause ? it.cause.order + (it.index + 1) / 1000 : it.index }));
  const deliveries = [...state.deliveries.values()].filter((it) => it.booking_id === booking.id).flatMap((it) => it.attempts.map((attempt) => ({
    id: `${it.event_id}/${attempt.number}`, at: attempt.at, from: Date.parse(attempt.at), rank: 2, order: 0,
      tone: attempt.status >= 200 && attempt.status < 300 ? 'good' : 'bad',
    what: ['delivery of ', link('deliveries', it.event_id, it.type), ' returned ', el('span', { class: 'toned' }, attempt.status ?? 'nothing')],
    more: `${attempt.number > 1 ? `Attempt ${attempt.number}. ` : ''}${attempt.error ? `${attempt.error}.` : `Your handler responded in ${attempt.latency_ms} ms.`}`,
  })));
  return [...requests, ...effects, ...deliveries].sort((a, b) => a.from - b.from || a.rank - b.rank || a.order - b.order);
}

const errorCodes = () => el('datalist', { id: 'error-codes' }, state.errorCodes.map((it) => el('option', { value: it })));

/** What may follow: the state that it leads to, and the button that brings it, by the calls that a script makes. */
function choicesOf(booking, code) {
  const action = booking.next_action;
  const key = keyOf(booking.organization);
  const send = (path, body) => call('POST', `/v1/bookings/${booking.id}/${path}`, body, key);
  const status = (it) => `The booking has status ${it.status}.`;
  const reply = (body) => act(() => send('continue', body), status);
  const put = (body) => call('PUT', `/sandbox/bookings/${booking.id}`, body);
  const choice = (to, text, click, more) => ({ to, control: button(text, click, more) });
  const input = (value, more = {}) => el('input', { value, ...more });
  const fail = choice('failed', 'Fail…', () => openDialog('The provider fails',
    { error_code: input('provider_error', { list: 'error-codes', required: true }), error_message: input('') },
    'Fail', (it) => put({ status: 'failed', ...Object.fromEntries(Object.entries(it).filter(([, value]) => value)) }), status), { class: 'bad' });
  const expired = action?.type === 'payment_approval' ? { status: 'failed', error_code: 'payment_approval_expired' } : { status: 'expired' };
  const expire = choice(expired.status, 'Expire', act(() => put(expired), status));
  if (booking.status === 'processing') return [choice('confirmed', 'Confirm', act(() => put({ status: 'confirmed' }), status), { class: 'main' }), fail];
  if (booking.status === 'confirmed') {
    const [date, zone] = [booking.datetime.slice(0, 16), booking.datetime.slice(19)];
    const modify = () => openDialog('Modify the booking', { datetime: input(date, { type: 'datetime-local', required: true }),
      party_size: input(booking.party_size, { type: 'number', min: '1', max: '20' }) }, 'Modify',
      (it) => send('modify', { ...(it.datetime === date ? {} : { datetime: `${it.datetime}:00${zone}` }),
        ...(Number(it.party_size) === booking.party_size ? {} : { party_size: Number(it.party_size) }) }),
      'The booking is modified.');
    return [choice('confirmed', 'Modify…', modify), choice('cancelled', 'Cancel',
      act(() => send('cancel', {}), (it) => (it.status === 'cancelled' ? 'The booking is cancelled.'
      : 'Not cancelled: the booking is still confirmed.'))), fail];
  }
  if (booking.status !== 'requires_action' || !action) return [];
  if (action.type === 'otp') {
    const other = () => openDialog('Send a code', { code: input('', { inputmode: 'numeric', autocomplete: 'one-time-code', required: true }) },
      'Send', (it) => send('continue', { otp: it.code }), status);
    return [code && choice('confirmed', `Use code ${code}`, reply({ otp: code }), { class: 'main', id: 'use-code' }),
      choice('requires_action', 'Another code…', other), expire, fail].filter(Boolean);
  }
  if (action.type === 'payment_approval') {
    const approval = action.psp_request?.approval_id;
    return [choice('confirmed', 'Approve', reply({ psp_response: { approval_id: approval, status: 'approved' } }), { class: 'main', id: 'approve' }),
      choice('requires_action', 'Decline', reply({ psp_response: { approval_id: approval, status: 'declined' } }),
        { title: 'The service accepts only an approval: the booking keeps waiting.' }),
      choice('failed', 'Abort', reply({ psp_abort: true })), expire, fail];
  }
  const openAnswer = () => openDialog(action.message ?? 'Answer', Object.fromEntries((action.fields ?? []).map((it) => [it.name ?? it, input('')])),
    'Answer', (it) => send('continue', it), status);
  return [choice('confirmed', 'Answer…', openAnswer, { class: 'main' }), expire, fail];
}

/** What a booking waits for, or why it is where it is. */
function situationOf(booking) {
  const action = booking.next_action;
  const amount = action?.amount !== undefined && `${money(action)} for ${count(booking.party_size, 'guest')}. `;
  if (action) return el('div', { class: 'waits' }, el('p', {}, amount, action.message),
    action.expires_at && el('p', { class: 'quiet small' }, 'Until ', time(action.expires_at), ' by the sandbox\'s clock'));
  if (booking.error_code) return el('div', { class: 'waits' }, el('p', {}, el('strong', {}, booking.error_code), ` ${booking.error_message ?? ''}`));
  return null;
}

function bookingView(id) {
  const top = el('div', {});
  const situation = el('div', {});
  const canvas = el('div', { class: 'canvas' });
  const about = el('div', { class: 'card pad' });
  const list = el('ol', { class: 'timeline', 'aria-label': 'Timeline' });
  const opened = el('div', { class: 'opened' },
    el('section', { class: 'card', 'aria-label': 'States' }, situation, canvas), el('section', { class: 'card pad' }, el('h3', {}, 'Timeline'), list), about);
  let drawnBooking;
  let drawnWith;
  let bookingEvents = [];
  let eventsOf;
  // What is drawn waits for them: a diagram that is drawn twice has other buttons under the pointer.
  const readEvents = (booking) => call('GET', `/sandbox/bookings/${encodeURIComponent(id)}/events`)
    .then((it) => { bookingEvents = it.events; }, () => {}).then(() => { eventsOf = booking; changed(); });
  const update = () => {
    const booking = state.bookings.get(id);
    opened.hidden = !booking;
    if (!booking) {
      top.replaceChildren(state.isLoaded ? heading('There is no such booking', `The sandbox has no booking ${id}.`) : 'Loading…');
      return;
    }
    const code = newest(state.messages).find((it) => it.booking_id === id)?.code;
    if (booking !== drawnBooking) {
      drawnBooking = booking;
      readEvents(booking);
      top.replaceChildren(el('div', { class: 'head' }, stateWord(booking.status), el('h2', { dir: 'auto' }, booking.customer?.name ?? id),
        el('p', {}, el('span', { dir: 'auto' }, booking.venue_name), ' · ', venueTime(booking.datetime), ` · ${count(booking.party_size, 'guest')}`)));
      situation.replaceChildren(situationOf(booking) ?? '');
      const fresh = el('div', { class: 'stack' }, facts([['Phone', booking.customer?.phone], ['Email', booking.customer?.email],
        ['Venue', el('span', { class: 'mono' }, booking.venue_id)],
        ['Provider', booking.provider], ['Organization', nameOf(booking.organization)], ['Made', time(booking.created_at)], ['Changed', time(booking.updated_at)],
        ['Booking', el('span', { class: 'mono' }, id)]]),
      el('details', {}, el('summary', {}, 'Document'), block(JSON.stringify(booking, null, 2)),
        copyButton(JSON.stringify(booking), 'Copy', { class: 'little' })), errorCodes());
      if (about.firstChild) replaceKeepingFocus(about.firstChild, fresh);
      else about.append(fresh);
    }
    if (eventsOf !== booking) return;
    const version = [code, canvas.clientWidth, booking.status, booking.updated_at, keyOf(booking.organization)].join();
    if (version !== drawnWith && canvas.clientWidth > 0) {
      drawnWith = version;
      drawDiagram(canvas, pathOf(booking, bookingEvents), choicesOf(booking, code));
    }
    const lines = timelineOf(booking, bookingEvents).map((it) => ({ ...it, key: `${it.id} ${Boolean(it.cause)}` }));
    keyed(list, lines.map((it) => list.byId?.get(it.key)?.item ?? it), (it) => it.key, (it) => el('li', { class: `${it.tone} ${it.cause ? 'effect' : ''}` },
      el('span', {}, it.what), time(it.at), it.more && el('span', { class: 'quiet' }, it.more)));
  };
  const watch = new ResizeObserver(() => changed());
  watch.observe(canvas);
  return { node: [el('a', { class: 'crumb', href: '#bookings' }, '← Bookings'), top, opened], update, close: () => watch.disconnect() };
}

