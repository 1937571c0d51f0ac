// The clock, faults, venues and keys.

function clockView() {
  const now = el('p', { class: 'clock' });
  const day = el('p', {});
  const ahead = el('p', { class: 'quiet' });
  const extra = el('div', { class: 'row' });
  const send = (body) => act(() => call('POST', scoped('/sandbox/clock'), body), 'The clock is set. Everything that was due has happened.');
  const clocks = table('Clocks', [
    ['Organization', 'lead', (it) => el('span', { dir: 'auto' }, nameOf(it.organization))],
    ['Ahead of real time', 'w-xl line', (it) => `${duration(clockOf(it.organization).ahead)}${it.frozen ? ', frozen' : ''}`],
  ], (it) => it.organization, el('div', {}));
  const own = el('div', { class: 'below' }, clocks.node);
  let list = [];
  let read;
  const draw = () => {
    const { now: date } = clockOf(chosen());
    now.replaceChildren(el('time', { datetime: date.toISOString(), title: utcText(date) }, clockText(date)));
    day.textContent = date.toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  };
  const timer = setInterval(draw, 1000);
  return {
    node: [heading('Clock', 'What is due by then happens before the next response: codes expire, bookings are confirmed, deliveries are retried.'),
      el('div', { class: 'card pad stack' }, el('div', {}, now, day, ahead),
        el('div', { class: 'row' }, [['+30 s', '30s'], ['+5 min', '5m'],
          ['+20 min', '20m']].map(([label, by]) => button(label, send({ advance: by })))), extra), own],
    update() {
      if (!state.clock) return;
      draw();
      const { ahead: offset, isFrozen } = clockOf(chosen());
      ahead.textContent = [`${duration(Math.abs(offset))} ${offset < 0 ? 'behind' : 'ahead of'} real time`,
        !filter.organization && ` in ${chosen()}`, isFrozen && ', frozen'].filter(Boolean).join('');
      keyedValues(extra, [['next', 'To the next change or delivery'], isFrozen ? ['resume', 'Resume'] : ['freeze', 'Freeze']], (it) => it[0],
        ([name, label]) => button(label, send({ [name]: true })));
      if (read !== state.clock) {
        read = state.clock;
        list = (read.organizations ?? []).map(({ id: organization, frozen }) => ({ organization, frozen }));
      }
      const wanted = filtered(list, () => '');
      own.hidden = wanted.length < 2;
      clocks.update(wanted, list.length);
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

/** What a fault does, how often, and to which requests of those that it is on. */
function faultText(it) {
  const [what, name] = (it.on === 'webhook' ? webhookFaults : faultKinds)[it.kind] ?? [it.kind];
  return `${what}${name && it[name] !== undefined ? `: ${it[name]}` : ''}${it.after ? ', after the request is handled' : ''}`;
}
const faultOften = (it) => [it.times === 'always' ? 'always' : it.times !== undefined && `${it.times} more`,
  it.rate !== undefined && `rate ${it.rate}, seed ${it.seed}`,
  it.from !== undefined && `from request ${it.from} on`, it.match && JSON.stringify(it.match)].filter(Boolean).join(', ');

function faultsView() {
  const on = el('select', {});
  const amount = el('input', { type: 'number', min: '0', class: 'short' });
  const amountLabel = field('Value', amount);
  const kind = el('select', { change: () => showAmount() });
  const kinds = () => (on.value === 'webhook' ? webhookFaults : faultKinds);
  const times = el('input', { type: 'number', min: '1', value: '1', class: 'short' });
  const rate = el('input', { type: 'number', min: '0.01', max: '1', step: '0.01', class: 'short' });
  const from = el('input', { type: 'number', min: '1', class: 'short', placeholder: '1' });
  const after = el('input', { type: 'checkbox' });
  const afterLabel = el('label', { class: 'check' }, after, 'after the request is handled');
  const showAmount = () => {
    const [, name, value] = kinds()[kind.value];
    amountLabel.hidden = !name;
    afterLabel.hidden = on.value === 'webhook';
    amount.value = value ?? '';
  };
  const showKinds = () => {
    kind.replaceChildren(...Object.entries(kinds()).map(([name, [what]]) => el('option', { value: name }, what)));
    showAmount();
  };
  on.addEventListener('change', showKinds);
  showKinds();
  call('GET', '/openapi.json').then(({ paths }) => on.replaceChildren(el('option', { value: 'webhook' }, 'delivery of a webhook'),
    ...Object.entries(paths).flatMap(([path, operations]) => Object.keys(operations)
    .filter((it) => ['get', 'post', 'put', 'delete', 'patch'].includes(it)).map((it) => el('option',
      { selected: `${it} ${path}` === 'post /v1/bookings' }, `${it.toUpperCase()} ${path}`))))).then(showKinds, () => {});
  const only = () => (filter.organization ? { organization: filter.organization } : {});
  const add = act(() => {
    const [, name] = kinds()[kind.value];
    // A share of the requests fails for as long as the fault is there.
    const often = rate.value ? { rate: Number(rate.value) } : { times: Number(times.value) };
    return call('POST', '/sandbox/faults', {
      on: on.value, kind: kind.value, ...often, ...only(), ...(name && { [name]: Number(amount.value) }),
      ...(from.value && { from: Number(from.value) }), ...(after.checked && !afterLabel.hidden && { after: true }),
    });
  }, 'The next requests meet the fault.');
  const preset = (name, label = spaced(name)) => button(label, act(() => call('POST', '/sandbox/faults', { preset: name, ...only() }),
    `The fault ${spaced(name)} is added.`), { title: `Adds the preset ${name}` });
  const presets = ['flaky', 'slow', 'down', 'rate_limited'];
  const rows = table('Faults', [
    ['On', 'w-xl', (it) => el('span', { class: 'mono' }, it.on)], ['What it does', 'lead', faultText], ['How often', 'w-l', faultOften],
    ['Organization', 'w-m line', (it) => el('span', { dir: 'auto' }, it.organization ? nameOf(it.organization) : 'all')],
    ['Remove', 'w-s state', (it) => button('Remove', act(() => call('DELETE', `/sandbox/faults/${it.id}`), 'The fault is removed.'),
      { class: 'little', 'aria-label': `Remove the fault of ${it.on}` })],
  ], (it) => it.id, emptyState('No faults', 'Every request gets the service\'s own response. Add what goes wrong in production.',
    preset('flaky', 'Make one request in five fail')));
  return {
    node: [heading('Faults', '', button('Remove all', act(() => call('DELETE', scoped('/sandbox/faults')), 'All faults are removed.'))),
      el('div', { class: 'card pad stack' }, el('div', { class: 'row' }, el('h3', {}, 'Presets'), presets.map((it) => preset(it))),
        el('form', { class: 'fields', submit: add }, field('Request', on), field('Fault', kind), amountLabel, field('Times', times),
          field('or rate', rate), field('From request', from), afterLabel, el('button', { class: 'main' }, 'Add'))),
      rows.node],
    update: () => rows.update(filtered(state.faults, (it) => `${it.on} ${it.kind} ${faultText(it)}`), state.faults.length),
  };
}

/** The command that books at a venue. */
function bookingCommand(venue, provider, isPayment) {
  return [`curl -i ${location.origin}/v1/bookings`, `-H ${word(`Authorization: Bearer ${keyOf(chosen()) ?? 'KEY'}`)}`, "-H 'Content-Type: application/json'",
    `-H 'Idempotency-Key: ${crypto.randomUUID()}'`, `-d ${word(JSON.stringify(bookingRequest(venue, provider, isPayment)))}`].join(' \\\n  ');
}

function venuesView() {
  const outcome = (it, venue) => el('div', { class: 'venue' }, el('code', {}, venue.venue_id),
    button('Book', act(() => book(bookingRequest(venue.venue_id, venue.providers[0], it.payment)),
      (made) => `Booking ${made.id} has status ${made.status}.`), { class: 'little', 'aria-label': `Book at ${venue.venue_id}` }),
    copyButton(() => bookingCommand(venue.venue_id, venue.providers[0], it.payment), 'Copy curl',
      { class: 'little', 'aria-label': `Copy curl for ${venue.venue_id}` }));
  const rows = table('Scenarios', [
    ['Outcome', 'w-l', (it) => el('strong', {}, spaced(it.name))], ['What a booking does', 'lead', (it) => it.description.replaceAll('`', '')],
    ['Venues', 'w-xl full', (it) => it.venues.map((venue) => outcome(it, venue))],
  ], (it) => it.name, el('div', {}));
  let scenarios = [];
  let owner;
  return {
    node: [heading('Venues', 'Each venue of the city "Sandbox" has one outcome. Book there, and it happens.'), rows.node],
    update() {
      if (owner !== filter.organization) {
        owner = filter.organization;
        call('GET', scoped('/sandbox/scenarios')).then((it) => { scenarios = it.scenarios; changed(); }, (error) => say(error.message));
      }
      rows.update(filtered(scenarios, (it) => `${it.name} ${it.description} ${it.venues.map((venue) => `${venue.venue_id} ${venue.name} ${venue.providers}`)}`), scenarios.length);
    },
  };
}

const exportLines = (key, organization) => [['BOOKCTL_BASE_URL', location.origin], ['BOOKCTL_API_KEY', key],
  ['BOOKCTL_WEBHOOK_SECRET', state.organizations.get(organization)?.webhook_secret]]
  .filter(([, value]) => value).map(([name, value]) => `export ${name}=${word(value)}`).join('\n');

function keysView() {
  const rows = table('Keys', [
    ['Key', 'lead', (it) => el('code', {}, it.key)], ['Kind', 'w-xs line', (it) => it.kind], ['For', '', (it) => it.purpose], organizationColumn,
    ['Copy', 'w-xl full', (it) => el('div', { class: 'row little' }, copyButton(it.key, 'Copy', { 'aria-label': `Copy ${it.key}` }),
      copyButton(() => exportLines(it.key, it.organization), 'Copy export lines', { 'aria-label': `Copy export lines for ${it.key}` }))],
  ], (it) => it.key, el('div', {}));
  const add = act(() => call('POST', '/sandbox/organizations', {}), (it) => `Organization ${it.id} is added.`);
  return {
    node: [heading('Keys', 'An organization of its own for each test keeps parallel tests apart.', button('Add an organization', add)), rows.node],
    update: () => rows.update(filtered(state.keys, (it) => `${it.key} ${it.kind} ${it.purpose}`), state.keys.length),
  };
}

