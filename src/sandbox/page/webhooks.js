// Messages, deliveries and the webhook's settings.

function messagesView() {
  const rows = windowed('Messages', 'No messages yet.', (it) => it.id, (it) => el('li', {},
    el('div', { class: 'row' }, el('b', { class: 'code' }, it.code), copyButton(it.code, 'Copy code', { 'aria-label': `Copy code ${it.code}` }), time(it.created_at)),
    el('p', {}, `To ${it.to}: ${it.text}`), it.booking_id ? link('bookings', it.booking_id) : it.session_id ?? ''));
  return { node: [el('h2', {}, 'Messages'), el('p', {}, 'One-time codes, as their recipients would get them.'), rows.parts], update: () => rows.update(newest(state.messages)) };
}

const lastAnswer = (it) => {
  const last = it.attempts.at(-1);
  return last ? String(last.status ?? last.error) : 'not sent yet';
};

function deliveriesView() {
  const only = el('select', { change: () => changed() }, ['', 'pending', 'delivered', 'abandoned'].map((it) => el('option', { value: it }, it || 'any state')));
  const rows = windowed('Deliveries', 'No deliveries yet. Set a URL under Webhook.', (it) => it.event_id, (it) => el('li', {},
    el('a', { class: 'item', href: `#deliveries/${it.event_id}` }, el('span', {}, stateWord(it.state)),
      el('span', {}, el('b', {}, it.type), ` · ${it.booking_id}`, el('span', { class: 'quiet' }, ` · ${count(it.attempts.length, 'attempt')}, last: ${lastAnswer(it)}`)))));
  return {
    node: [el('h2', {}, 'Deliveries'), el('div', { class: 'row' }, el('label', {}, 'State', only)), rows.parts],
    update: () => rows.update(newest(state.deliveries).filter((it) => !only.value || it.state === only.value), state.deliveries.size),
  };
}

function deliveryView(id) {
  const box = el('div', {});
  const path = `/sandbox/deliveries/${encodeURIComponent(id)}`;
  let shown;
  const draw = (it) => {
    const fresh = el('div', {}, el('p', {}, stateWord(it.state), ` ${it.type} to ${it.url}`, it.next_attempt_at ? ', next attempt ' : '', it.next_attempt_at ? time(it.next_attempt_at) : ''),
      fields([['booking', link('bookings', it.booking_id)]]),
      el('div', { class: 'row' }, button('Resend', act(() => call('POST', `${path}/resend`, {}), 'The event was sent again.'), { class: 'main', id: 'resend' })),
      it.attempts.length ? '' : [el('h3', {}, 'Event'), block(laidOut(it.body))],
      it.attempts.slice().reverse().map((attempt) => el('div', { class: 'box' },
        el('h3', {}, `Attempt ${attempt.number}: ${attempt.status ?? attempt.error}`), el('p', {}, time(attempt.at), `, ${attempt.latency_ms} ms`),
        message('What was sent', attempt.request), message('What your handler responded', attempt.response))));
    if (box.firstElementChild) replaceKeepingFocus(box.firstElementChild, fresh);
    else box.replaceChildren(fresh);
  };
  return {
    node: [el('p', {}, el('a', { href: '#deliveries' }, 'All deliveries')), el('h2', {}, `Delivery ${id}`), box],
    update() {
      const it = state.deliveries.get(id);
      if (!it || it === shown) return;
      shown = it;
      call('GET', path).then(draw, (error) => box.replaceChildren(error.message));
    },
  };
}

/** The organizations that a person chooses from. */
function organizationSelect(change) {
  const select = el('select', { change });
  const update = () => {
    const ids = [...state.organizations.keys()].sort((a, b) => (b === 'org_sandbox') - (a === 'org_sandbox'));
    if (ids.join() === [...select.options].map((it) => it.value).join()) return;
    const chosen = select.value;
    select.replaceChildren(...ids.map((it) => el('option', { value: it }, it)));
    select.value = ids.includes(chosen) ? chosen : ids[0];
  };
  return { select, update };
}

/** A booking request for tomorrow evening by the sandbox's clock. */
function bookingRequest(venue, provider, isPayment) {
  const day = new Date(sandboxNow().getTime() + 24 * 3600 * 1000).toISOString().slice(0, 10);
  return { venue_id: venue, provider, datetime: `${day}T19:30:00Z`, party_size: 2, customer: { name: 'Ada Lovelace', phone: '+442079460000' },
    ...(isPayment ? { payment_collection: 'vendor_external' } : {}) };
}

async function book(request, key) {
  const answer = await fetch('/v1/bookings', { method: 'POST', body: JSON.stringify(request),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}`, 'Idempotency-Key': crypto.randomUUID() } });
  const document = await answer.json();
  if (!answer.ok) throw new Error(document.error ?? `The answer was ${answer.status}.`);
  return document;
}

function webhookView() {
  const url = el('input', { type: 'url', placeholder: 'http://127.0.0.1:8080/webhooks', size: '40' });
  const secret = el('code', {});
  let shown;
  const owner = organizationSelect(() => { shown = undefined; changed(); });
  const save = (value) => act(() => call('PUT', `/sandbox/organization?organization=${encodeURIComponent(owner.select.value)}`, { webhook_url: value() }),
    (it) => (it.webhook_url ? `Events go to ${it.webhook_url} from now on.` : 'No events are sent from now on.'));
  const test = act(() => book(bookingRequest('ven_confirms', 'provider_a'), keyOf(owner.select.value)), (it) => `Booking ${it.id} is made. Its events are under Deliveries.`);
  return {
    node: [el('h2', {}, 'Webhook'), el('div', { class: 'row' }, el('label', {}, 'Organization', owner.select)),
      el('form', { class: 'row', submit: (event) => save(() => url.value || null)(event) },
        el('label', { class: 'grow' }, 'URL', url), el('button', { class: 'main' }, 'Save'), button('Send no events', save(() => null))),
      el('div', { class: 'row' }, el('span', {}, 'Secret ', secret), copyButton(() => secret.textContent, 'Copy secret')),
      el('div', { class: 'row' }, button('Make a test booking', test)), el('p', { class: 'quiet' }, 'Its events are sent to the URL, signed with the secret.')],
    update() {
      owner.update();
      const it = state.organizations.get(owner.select.value);
      if (!it || it === shown) return;
      shown = it;
      url.value = it.webhook_url ?? '';
      secret.textContent = it.webhook_secret;
    },
  };
}

