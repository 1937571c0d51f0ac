// Messages, deliveries and the webhook's settings.

const listenCommand = 'bookctl webhook listen --forward-to http://127.0.0.1:8080/webhooks';

function messagesView() {
  const rows = table('Messages', [
    ['Time', 'w-s line', (it) => time(it.created_at)],
    ['To', 'w-l', (it) => el('span', { dir: 'auto' }, it.to)],
    ['Text', 'lead', (it) => el('span', { dir: 'auto' }, it.text)],
    ['Code', 'w-l line', (it) => [el('strong', { class: 'mono' }, it.code), ' ',
      copyButton(it.code, 'Copy code', { class: 'little', 'aria-label': `Copy code ${it.code}` })]],
    ['Guest or session', 'w-l', (it) => (it.booking_id ? el('a', { href: `#bookings/${it.booking_id}`, dir: 'auto' },
      guestOf(it.booking_id) ?? it.booking_id) : it.session_id ?? '')],
    organizationColumn,
  ], (it) => it.id, emptyState('No messages yet', 'One-time codes arrive here as they would on the guest\'s phone.',
    bookButton('Book with a one-time code', 'otp', { class: 'main' })));
  return {
    node: [heading('Messages', ''), rows.node],
    update: () => rows.update(filtered(newest(state.messages), (it) => [it.id, it.to, it.text, it.booking_id, it.session_id,
      guestOf(it.booking_id)].join(' ')), state.messages.size),
  };
}

/** What the handler responded to the last attempt. */
function lastResponse(it) {
  const last = it.attempts.at(-1);
  return last ? String(last.status ?? last.error) : 'not sent yet';
}

function deliveriesView() {
  const rows = table('Deliveries', [
    ['Time', 'w-s line', (it) => time(it.attempts.at(-1)?.at ?? it.next_attempt_at)],
    ['Event', 'lead', (it) => opener('deliveries', it.event_id, it.type)],
    ['Booking', '', (it) => el('span', { dir: 'auto' }, guestOf(it.booking_id) ?? it.booking_id)],
    ['Attempts', 'w-xs end', (it) => it.attempts.length],
    ['Your handler', 'w-l', (it) => [el('span', { class: 'sub' }, `last: ${lastResponse(it)}`),
      it.next_attempt_at && el('span', { class: 'quiet sub' }, 'next ', time(it.next_attempt_at))]],
    ['State', 'w-m state', (it) => stateWord(it.state)],
    organizationColumn,
  ], (it) => it.event_id, emptyState('No deliveries yet', 'Start a listener, or set the URL of your handler. The sandbox posts each change of a booking there.',
    copyButton(listenCommand, 'Copy the listener\'s command', { class: 'main' }), el('a', { href: '#webhook' }, 'Set a URL')));
  const text = (it) => [it.event_id, it.type, it.booking_id, it.state, it.url, lastResponse(it), guestOf(it.booking_id)].join(' ');
  return { node: [heading('Deliveries', ''), rows.node], update: () => rows.update(filtered(newest(state.deliveries), text), state.deliveries.size) };
}

function deliveryView(id) {
  const box = el('div', {});
  const path = `/sandbox/deliveries/${encodeURIComponent(id)}`;
  let drawn;
  const draw = (it) => {
    const resend = button('Resend', act(() => call('POST', `${path}/resend`, {}), 'The event was sent again.'), { class: 'main', id: 'resend' });
    const fresh = el('div', { class: 'stack' },
      el('div', { class: 'head' }, stateWord(it.state), el('h2', {}, it.type), el('div', { class: 'row' }, resend),
        el('p', {}, `to ${it.url}`, it.next_attempt_at && [', next attempt ', time(it.next_attempt_at)])),
      el('div', { class: 'card pad' }, facts([['Booking', link('bookings', it.booking_id, guestOf(it.booking_id) ?? it.booking_id)],
        ['Organization', nameOf(it.organization)], ['Event', el('span', { class: 'mono' }, id)]])),
      it.attempts.length === 0 && el('div', { class: 'card pad stack' }, el('h3', {}, 'Event'), block(laidOut(it.body))),
      it.attempts.slice().reverse().map((attempt) => el('section', { class: 'stack' },
        el('div', { class: 'row' }, el('h3', {}, `Attempt ${attempt.number}: ${attempt.status ?? attempt.error}`),
          el('span', { class: 'quiet' }, time(attempt.at), `, ${attempt.latency_ms} ms`)),
        el('div', { class: 'sides' }, message('What was sent', attempt.request), message('What your handler responded', attempt.response)))));
    if (box.firstElementChild) replaceKeepingFocus(box.firstElementChild, fresh);
    else box.replaceChildren(fresh);
  };
  const update = () => {
    const it = state.deliveries.get(id);
    if (!it || it === drawn) return;
    drawn = it;
    call('GET', path).then(draw, (error) => box.replaceChildren(error.message));
  };
  return { node: [el('a', { class: 'crumb', href: '#deliveries' }, '← Deliveries'), box], update };
}

function webhookView() {
  const url = el('input', { type: 'url', placeholder: 'http://127.0.0.1:8080/webhooks', size: '40' });
  const secret = el('code', {});
  const owner = el('strong', { dir: 'auto' });
  let drawn;
  const save = (value) => act(() => call('PUT', `/sandbox/organization?organization=${encodeURIComponent(chosen())}`, { webhook_url: value() }),
    (it) => (it.webhook_url ? `Events go to ${it.webhook_url} from now on.` : 'No events are sent from now on.'));
  const test = act(() => book(bookingRequest('ven_confirms', 'provider_a')), (it) => `Booking ${it.id} is made. Its events are under Deliveries.`);
  return {
    node: [heading('Webhook', ['The sandbox posts each change of a booking of ', owner, ' to this URL, signed with its secret.']),
      el('div', { class: 'card pad stack' },
        el('form', { class: 'fields', submit: (event) => save(() => url.value || null)(event) },
          el('label', { class: 'field grow' }, 'URL', url), el('button', { class: 'main' }, 'Save'), button('Send no events', save(() => null))),
        facts([['Secret', el('span', { class: 'row' }, secret, copyButton(() => secret.textContent, 'Copy secret', { class: 'little' }))]])),
      el('div', { class: 'card pad stack' }, el('h3', {}, 'Try it'), el('p', { class: 'quiet' },
        'A listener verifies, prints and forwards what it receives. A test booking sends events.'),
        block(listenCommand), el('div', { class: 'row' }, copyButton(listenCommand, 'Copy the listener\'s command'), button('Make a test booking', test)))],
    update() {
      owner.textContent = nameOf(chosen());
      const it = state.organizations.get(chosen());
      if (!it || it === drawn) return;
      drawn = it;
      url.value = it.webhook_url ?? '';
      secret.textContent = it.webhook_secret;
    },
  };
}

