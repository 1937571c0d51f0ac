// The clock, faults, venues and keys.

function clockView() {
  const now = el('p', { class: 'code' });
  const ahead = el('p', { class: 'quiet' });
  const extra = el('div', { class: 'row' });
  const send = (body) => act(() => call('POST', '/sandbox/clock', body), 'The clock is set. Everything that was due has happened.');
  const draw = () => {
    const date = state.clock?.frozen ? new Date(state.clock.now) : sandboxNow();
    now.replaceChildren(el('time', { datetime: date.toISOString(), title: `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC` }, date.toLocaleString()));
  };
  const timer = setInterval(draw, 1000);
  return {
    node: [el('h2', {}, 'Clock'), now, ahead,
      el('div', { class: 'row' }, [['+30 s', '30s'], ['+5 min', '5m'], ['+20 min', '20m']].map(([label, by]) => button(label, send({ advance: by })))), extra],
    update() {
      if (!state.clock) return;
      draw();
      const offset = state.clock.offset_seconds;
      ahead.textContent = `${duration(Math.abs(offset))} ${offset < 0 ? 'behind' : 'ahead of'} real time`;
      const offered = [['next', 'To the next change or delivery', true], ['freeze', 'Freeze', !state.clock.frozen], ['resume', 'Resume', state.clock.frozen]]
        .filter(([name, , isUseful]) => isUseful && offers('POST', '/sandbox/clock', name));
      keyed(extra, offered, (it) => it[0], ([name, label]) => button(label, send({ [name]: true })));
    },
    close: () => clearInterval(timer),
  };
}

/** What a fault does to a delivery of a webhook. */
const webhookFaults = {
  delay: ['delivers later, ms', 'delay_ms', '2000'], drop: ['loses the delivery, which is tried again'],
  duplicate: ['delivers twice'], reorder: ['delivers after the next event of the booking'],
  unsigned: ['delivers without a signature'], old: ['delivers with a signature of an hour ago'],
};

const faultKinds = {
  status: ['responds with a status', 'status', '503'], delay: ['responds later, ms', 'delay_ms', '2000'],
  drop_before: ['closes the connection before the request is handled'], drop_after: ['handles the request, then closes the connection'],
  truncate: ['truncates the response after bytes', 'after_bytes', '20'], garbage: ['responds with a page that is not JSON'],
};

function faultsView() {
  const on = el('select', {});
  const amount = el('input', { type: 'number', min: '0' });
  const amountLabel = el('label', {}, 'Value', amount);
  const kind = el('select', { change: () => showAmount() });
  const kinds = () => (on.value === 'webhook' ? webhookFaults : faultKinds);
  const times = el('input', { type: 'number', min: '1', value: '1', size: '4' });
  const rate = el('input', { type: 'number', min: '0.01', max: '1', step: '0.01', size: '4' });
  const only = el('select', {});
  const showAmount = () => {
    const [, name, value] = kinds()[kind.value];
    amountLabel.hidden = !name;
    amount.value = value ?? '';
  };
  const showKinds = () => {
    kind.replaceChildren(...Object.entries(kinds()).map(([name, [what]]) => el('option', { value: name }, what)));
    showAmount();
  };
  on.addEventListener('change', showKinds);
  showKinds();
  call('GET', '/openapi.json').then(({ paths }) => on.replaceChildren(el('option', { value: 'webhook' }, 'delivery of a webhook'), ...Object.entries(paths).flatMap(([path, operations]) => Object.keys(operations)
    .filter((it) => ['get', 'post', 'put', 'delete', 'patch'].includes(it)).map((it) => el('option', { selected: `${it} ${path}` === 'post /v1/bookings' }, `${it.toUpperCase()} ${path}`))))).then(showKinds, () => {});
  const add = act(() => {
    const [, name] = kinds()[kind.value];
    // A share of the requests fails for as long as the fault is there.
    const often = rate.value ? { rate: Number(rate.value) } : { times: Number(times.value) };
    return call('POST', '/sandbox/faults', { on: on.value, kind: kind.value, ...often, ...(only.value ? { organization: only.value } : {}), ...(name ? { [name]: Number(amount.value) } : {}) });
  }, 'The next requests meet the fault.');
  const presets = el('div', { class: 'row' });
  const list = el('ul', { class: 'list', 'aria-label': 'Faults' });
  const none = el('p', { class: 'quiet' });
  return {
    node: [el('h2', {}, 'Faults'), presets, el('form', { class: 'row', submit: add }, el('label', {}, 'Request', on), el('label', {}, 'Fault', kind), amountLabel,
      el('label', {}, 'Times', times), el('label', {}, 'or rate', rate), el('label', {}, 'Organization', only), el('button', { class: 'main' }, 'Add')), none, list,
    el('div', { class: 'row' }, button('Remove all', act(() => call('DELETE', '/sandbox/faults'), 'All faults are removed.')))],
    update() {
      none.textContent = state.faults.length ? '' : absent('No faults.');
      keyed(only, ['', ...state.organizations.keys()], (it) => it, (it) => el('option', { value: it }, it || 'all'));
      const names = offers('POST', '/sandbox/faults', 'preset') ? ['flaky', 'slow', 'down', 'rate_limited'] : [];
      keyed(presets, names, (it) => it, (it) => button(it.replaceAll('_', ' '), act(() => call('POST', '/sandbox/faults', { preset: it }), `The fault ${it.replaceAll('_', ' ')} is added.`)));
      keyed(list, state.faults, (it) => it.id, (it) => {
        const [what, name] = (it.on === 'webhook' ? webhookFaults : faultKinds)[it.kind] ?? [it.kind];
        const value = name && it[name] !== undefined ? `: ${it[name]}` : '';
        const remove = offers('DELETE', '/sandbox/faults/{id}') && button('Remove', act(() => call('DELETE', `/sandbox/faults/${it.id}`), 'The fault is removed.'),
          { 'aria-label': `Remove the fault of ${it.on}` });
        const limits = [it.times === 'always' ? 'always' : `${it.times} more`, it.rate !== undefined && `rate ${it.rate}, seed ${it.seed}`, it.organization].filter(Boolean);
        return el('li', {}, remove, ' ', el('b', {}, it.on), ` ${what}${value}`, el('span', { class: 'quiet' }, ` · ${limits.join(' · ')}`));
      });
    },
  };
}

/** The command that books at a venue. */
function bookingCommand(venue, isPayment) {
  return [`curl -i ${location.origin}/v1/bookings`, `-H 'Authorization: Bearer ${keyOf('org_sandbox') ?? 'KEY'}'`, "-H 'Content-Type: application/json'",
    `-H 'Idempotency-Key: ${crypto.randomUUID()}'`, `-d ${word(JSON.stringify(bookingRequest(venue.venue_id, venue.providers[0], isPayment)))}`].join(' \\\n  ');
}

function venuesView() {
  const list = el('ul', { class: 'list', 'aria-label': 'Scenarios' });
  const copyFor = (venue, it) => copyButton(() => bookingCommand(venue, it.payment), 'Copy curl', { 'aria-label': `Copy curl for ${venue.venue_id}` });
  call('GET', '/sandbox/scenarios').then(({ scenarios }) => list.replaceChildren(...scenarios.map((it) => el('li', {},
    el('b', {}, it.name), el('p', {}, it.description.replaceAll('`', '')),
    it.venues.map((venue) => el('div', { class: 'row' }, el('code', {}, venue.venue_id), el('span', { class: 'quiet' }, venue.providers.join(', ')),
      copyFor(venue, it), button('Book', act(() => book(bookingRequest(venue.venue_id, venue.providers[0], it.payment), keyOf('org_sandbox')),
        (made) => `Booking ${made.id} has status ${made.status}.`), { 'aria-label': `Book at ${venue.venue_id}` })))))),
  (error) => say(error.message));
  return { node: [el('h2', {}, 'Venues'), el('p', {}, 'Each venue of the city "Sandbox" has one outcome. Book there, and it happens.'), list], update() {} };
}

function keysView() {
  const list = el('ul', { class: 'list', 'aria-label': 'Keys' });
  const exports = (key, organization) => [['BOOKCTL_BASE_URL', location.origin], ['BOOKCTL_API_KEY', key], ['BOOKCTL_WEBHOOK_SECRET', state.organizations.get(organization)?.webhook_secret]]
    .filter(([, value]) => value).map(([name, value]) => `export ${name}=${word(value)}`).join('\n');
  return {
    node: [el('h2', {}, 'Keys'), list],
    update: () => keyed(list, state.keys, (it) => it.key, (it) => el('li', {}, el('div', { class: 'row' }, el('code', {}, it.key),
      copyButton(it.key, 'Copy', { 'aria-label': `Copy ${it.key}` }), copyButton(() => exports(it.key, it.organization), 'Copy export lines', { 'aria-label': `Copy export lines for ${it.key}` })),
    el('p', {}, it.purpose, el('span', { class: 'quiet' }, ` · ${it.organization} · ${it.kind}`)))),
  };
}

