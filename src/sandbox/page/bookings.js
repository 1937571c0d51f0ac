// Bookings: the list, and one booking with its timeline and what it waits for.

const tones = {
  confirmed: 'good', delivered: 'good', failed: 'bad', abandoned: 'bad', expired: 'bad', requires_action: 'warn', processing: 'warn',
  pending: 'warn', cancelled: 'quiet',
};
/** `46.00 EUR`, of an amount in minor units. */
function money({ amount, currency }) {
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;
  return `${(amount / 10 ** digits).toFixed(digits)} ${currency}`;
}
const stateWord = (name) => el('b', { class: tones[name] ?? '' }, String(name).replaceAll('_', ' '));

/** Keeps the focus on the same control when an element takes another's place. */
function replaceKeepingFocus(old, fresh) {
  const controls = 'a, button, input, select, summary, [tabindex]';
  const at = old.contains(document.activeElement) ? [...old.querySelectorAll(controls)].indexOf(document.activeElement) : -1;
  old.replaceWith(fresh);
  if (at >= 0) (fresh.querySelectorAll(controls)[at] ?? fresh.closest('[tabindex]') ?? document.getElementById('main')).focus();
}

/** Brings a list up to date. Rows whose item is the same object stay as they are. */
function keyed(list, items, id, render) {
  const before = list.rows ?? new Map();
  list.rows = new Map();
  let place = list.firstChild;
  for (const item of items) {
    let row = before.get(id(item));
    if (row && row.item !== item) {
      const node = render(item);
      if (place === row.node) place = node;
      replaceKeepingFocus(row.node, node);
      row = { item, node };
    }
    row ??= { item, node: render(item) };
    if (row.node === place) place = place.nextSibling;
    else list.insertBefore(row.node, place);
    list.rows.set(id(item), row);
  }
  for (const [key, row] of before) if (!list.rows.has(key)) row.node.remove();
}

/** A list of which only a part is in the document, however long it is. */
function windowed(label, empty, id, render) {
  const list = el('ul', { class: 'list', 'aria-label': label });
  const count = el('p', { class: 'quiet' });
  let most = 50;
  const more = button('Show 100 more', () => { most += 100; changed(); });
  // `all` is how many there are without a filter.
  const update = (items, all) => {
    keyed(list, items.slice(0, most), id, render);
    more.hidden = items.length <= most;
    const none = all > 0 ? 'Nothing matches.' : absent(empty);
    count.textContent = items.length === 0 ? none : `${Math.min(most, items.length)} of ${items.length}`;
  };
  return { parts: [count, list, more], update };
}

const link = (section, id, text = id) => el('a', { href: `#${section}/${id}` }, text);

function bookingRow(it) {
  return el('li', {}, el('a', { class: 'item', href: `#bookings/${it.id}` },
    el('span', {}, stateWord(it.status)),
    el('span', {}, el('b', {}, it.customer?.name ?? ''), ' · ', it.venue_name, ' · ', venueTime(it.datetime),
      el('span', { class: 'quiet' }, ` · party of ${it.party_size}`, it.error_code ? ` · ${it.error_code}` : '', ' · made ', time(it.created_at)))));
}

function bookingsView() {
  const filter = el('input', { type: 'search', input: () => changed() });
  const only = el('select', { change: () => changed() },
    ['', 'requires_action', 'processing', 'confirmed', 'failed', 'cancelled', 'expired'].map((it) => el('option', { value: it }, it.replaceAll('_', ' ') || 'any state')));
  const of = el('select', { change: () => changed() });
  const organization = el('label', {}, 'Organization', of);
  const rows = windowed('Bookings', 'No bookings yet. Venues has a command that makes one.', (it) => it.id, bookingRow);
  return {
    node: [el('h2', {}, 'Bookings'),
      el('div', { class: 'row' }, el('label', { class: 'grow' }, 'Search', filter), el('label', {}, 'State', only), organization), rows.parts],
    update() {
      keyed(of, ['', ...state.organizations.keys()], (it) => it, (it) => el('option', { value: it }, it || 'all'));
      organization.hidden = state.organizations.size < 2;
      const wanted = filter.value.trim().toLowerCase();
      rows.update(newest(state.bookings).filter((it) => (!only.value || it.status === only.value)
        && (!of.value || it.organization === of.value)
        && (!wanted || `${it.id} ${it.customer?.name} ${it.customer?.phone} ${it.venue_name} ${it.venue_id} ${it.datetime} ${it.error_code} ${it.organization} ${state.organizations.get(it.organization)?.name}`.toLowerCase().includes(wanted))), state.bookings.size);
    },
  };
}

/** What happened to a booking, in one order. */
function timelineOf(booking, bookingEvents) {
  const about = (map) => [...map.values()].filter((it) => it.booking_id === booking.id);
  const lines = bookingEvents.map((it) => ({ id: it.id, at: it.created_at, rank: 1, what: ['became ', stateWord(it.type.replace('booking.', ''))] }));
  if (!bookingEvents.some((it) => it.type === `booking.${booking.status}`)) {
    lines.push({ id: booking.status, at: booking.updated_at, rank: 1, what: ['became ', stateWord(booking.status)] });
  }
  for (const it of about(state.requests)) {
    lines.push({ id: it.id, at: it.at, rank: 2, what: ['request ', link('requests', it.id, `${it.method} ${it.path}`), ` returned ${it.status}`, it.reason ? `: ${it.reason}` : ''] });
  }
  for (const it of about(state.messages)) {
    lines.push({ id: it.id, at: it.created_at, rank: 1, what: [`message to ${it.to}: ${it.text}`] });
  }
  for (const it of about(state.deliveries)) {
    for (const attempt of it.attempts) {
      lines.push({ id: `${it.event_id}/${attempt.number}`, at: attempt.at, rank: 3,
        what: ['delivery of ', link('deliveries', it.event_id, it.type), ` returned ${attempt.status ?? attempt.error}`] });
    }
  }
  return lines.sort((a, b) => a.at.localeCompare(b.at) || a.rank - b.rank);
}

/** The controls that answer what a booking waits for, by the service's own call. */
function answers(booking) {
  const action = booking.next_action;
  const key = keyOf(booking.organization);
  const send = (path, body, done) => act(() => call('POST', `/v1/bookings/${booking.id}/${path}`, body, key), done);
  const reply = (body) => send('continue', body, (it) => `The booking has status ${it.status}.`);
  if (booking.status === 'confirmed') return el('div', { class: 'row' }, button('Cancel the booking', send('cancel', {}, (it) => it.status === 'cancelled' ? 'The booking is cancelled.' : 'Not cancelled: the booking is still confirmed.')));
  if (!action) return null;
  const parts = [el('h3', {}, 'Waits for an answer'), el('p', {}, action.message)];
  if (action.expires_at) parts.push(el('p', { class: 'quiet' }, 'Until ', time(action.expires_at), ' by the sandbox\'s clock'));
  if (action.type === 'otp') {
    const sent = newest(state.messages).find((it) => it.booking_id === booking.id);
    const typed = el('input', { autocomplete: 'one-time-code', inputmode: 'numeric', size: '8' });
    if (sent) parts.push(el('div', { class: 'row' }, button(`Use code ${sent.code}`, reply({ otp: sent.code }), { class: 'main', id: 'use-code' })));
    parts.push(el('form', { class: 'row', submit: (event) => reply({ otp: typed.value })(event) },
      el('label', {}, 'Another code', typed), el('button', {}, 'Send')));
  } else if (action.type === 'payment_approval') {
    const approval = action.psp_request?.approval_id;
    parts.push(el('p', {}, `${money(action)} for ${count(booking.party_size, 'guest')}`));
    parts.push(el('div', { class: 'row' },
      button('Approve', reply({ psp_response: { approval_id: approval, status: 'approved' } }), { class: 'main', id: 'approve' }),
      button('Decline', reply({ psp_response: { approval_id: approval, status: 'declined' } })),
      button('Abort', reply({ psp_abort: true }))),
    el('p', { class: 'quiet' }, 'The service accepts only an approval. It rejects a declined payment, and the booking keeps waiting.'));
  } else {
    const inputs = (action.fields ?? []).map((it) => [it.name ?? it, el('input', {})]);
    parts.push(el('form', { class: 'row', submit: (event) => reply(Object.fromEntries(inputs.map(([name, input]) => [name, input.value])))(event) },
      inputs.map(([name, input]) => el('label', {}, name, input)), el('button', { class: 'main' }, 'Answer')));
  }
  return el('div', { class: 'box' }, parts);
}

function bookingView(id) {
  const top = el('div', {});
  const list = el('ol', { class: 'list', 'aria-label': 'Timeline' });
  let shown;
  let code;
  let bookingEvents = [];
  const readEvents = () => call('GET', `/sandbox/bookings/${encodeURIComponent(id)}/events`)
    .then((it) => { bookingEvents = it.events; changed(); }, () => {});
  return {
    node: [el('p', {}, el('a', { href: '#bookings' }, 'All bookings')), el('h2', {}, `Booking ${id}`), top, el('h3', {}, 'Timeline'), list],
    update() {
      const booking = state.bookings.get(id);
      if (!booking) {
        top.replaceChildren(absent('There is no such booking.'));
        return;
      }
      const sent = newest(state.messages).find((it) => it.booking_id === id)?.code;
      if (booking !== shown || sent !== code) {
        shown = booking;
        code = sent;
        readEvents();
        const fresh = el('div', {}, el('p', {}, stateWord(booking.status), booking.error_code ? `: ${booking.error_code}. ${booking.error_message ?? ''}` : ''),
          answers(booking),
          fields([['guest', booking.customer?.name], ['phone', booking.customer?.phone], ['email', booking.customer?.email],
            ['venue', `${booking.venue_name} (${booking.venue_id})`], ['when', venueTime(booking.datetime)], ['party', booking.party_size],
            ['provider', booking.provider], ['organization', booking.organization], ['made', time(booking.created_at)], ['changed', time(booking.updated_at)]]),
          el('details', {}, el('summary', {}, 'Document'), block(JSON.stringify(booking, null, 2)), copyButton(JSON.stringify(booking))));
        if (top.firstChild) replaceKeepingFocus(top.firstChild, fresh);
        else top.append(fresh);
      }
      const lines = timelineOf(booking, bookingEvents);
      keyed(list, lines.map((it) => lineOf(list, it)), (it) => it.id, (it) => el('li', {}, time(it.at), ' ', it.what));
    },
  };
}

/** The line as it is shown already, if it says the same. */
function lineOf(list, line) {
  const old = list.rows?.get(line.id)?.item;
  return old && old.at === line.at ? old : line;
}

