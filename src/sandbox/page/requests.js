// Requests: what the service was asked, and its responses.

function requestRow(it) {
  const tone = it.status >= 400 || it.status === 0 ? 'bad' : 'good';
  return el('li', {}, el('a', { class: 'item', href: `#requests/${it.id}` },
    el('span', {}, el('b', { class: tone }, it.status === 0 ? 'no response' : String(it.status)), ' ', time(it.at)),
    el('span', {}, el('b', {}, it.method), ` ${it.path}`, el('span', { class: 'quiet' }, ` · ${it.duration_ms} ms`, it.fault ? ` · fault: ${it.fault}` : ''),
      it.reason ? el('span', { class: 'quiet' }, ` · ${it.reason}`) : '', it.notes.length ? el('span', { class: 'warn' }, ` · ${count(it.notes.length, 'note')}`) : '')));
}

function requestsView() {
  const path = el('input', { type: 'search', input: () => changed() });
  const status = el('select', { change: () => changed() },
    ['', '2', '4', '5', '0'].map((it) => el('option', { value: it }, { '': 'any status', 0: 'no response' }[it] ?? `${it}xx`)));
  const rows = windowed('Requests', 'No requests yet.', (it) => it.id, requestRow);
  return {
    node: [el('h2', {}, 'Requests'),
      el('div', { class: 'row' }, el('label', { class: 'grow' }, 'Search', path), el('label', {}, 'Status', status)), rows.parts],
    update() {
      const wanted = path.value.trim().toLowerCase();
      rows.update(newest(state.requests).filter((it) => (!status.value || String(it.status)[0] === status.value)
        && (!wanted || `${it.id} ${it.method} ${it.path} ${it.status} ${it.booking_id} ${it.reason} ${it.request.body} ${it.response.body}`.toLowerCase().includes(wanted))), state.requests.size);
    },
  };
}

/** The request as a curl command. The key is masked in the log, so the command names the variable that holds it. */
function curl(it) {
  // A key that was refused, wherever it came, is not the one that is set for the sandbox.
  const key = it.status === 401 ? '$REFUSED_KEY' : '$BOOKCTL_API_KEY';
  const keyed = (text) => word(text).replace(/sk_[\w-]*…[\w-]{0,4}/g, () => `'"${key}"'`);
  const lines = [`curl -i -X ${it.method} ${keyed(location.origin + it.path + (it.query ? `?${it.query}` : ''))}`];
  const own = ['host', 'content-length', 'connection', 'accept-encoding', 'user-agent', 'accept', 'origin', 'referer'];
  for (const [name, value] of Object.entries(it.request.headers)) {
    if (own.includes(name) || name.startsWith('sec-')) continue;
    if (String(value).includes('…')) lines.push(`-H "${name}: ${String(value).includes(' ') ? `${value.split(' ')[0]} ` : ''}${key}"`);
    else lines.push(`-H ${word(`${name}: ${value}`)}`);
  }
  if (it.request.encoding === 'base64') {
    lines[0] = `printf %s ${word(it.request.body)} | base64 -d | ${lines[0]}`;
    lines.push('--data-binary @-');
  } else if (it.request.body) lines.push(`--data-binary ${keyed(it.request.body)}`);
  return lines.join(' \\\n  ');
}

const headerLines = (headers) => Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`).join('\n');

/** Headers and body of one direction. */
function message(title, it) {
  if (!it) return null;
  return el('section', {}, el('h3', {}, title), el('details', {}, el('summary', {}, 'Headers'), block(headerLines(it.headers))),
    it.encoding === 'base64' ? el('p', { class: 'quiet' }, 'The body is not text. As Base64:') : '', it.body ? block(laidOut(it.body)) : el('p', { class: 'quiet' }, 'No body'), it.truncated ? el('p', { class: 'warn' }, 'The rest was not kept.') : '');
}

function requestView(id) {
  const box = el('div', {});
  let shown;
  return {
    node: [el('p', {}, el('a', { href: '#requests' }, 'All requests')), el('h2', {}, `Request ${id}`), box],
    update() {
      const it = state.requests.get(id);
      if (it && it === shown) return;
      shown = it;
      if (!it) {
        box.replaceChildren(absent('This request is not in the log, which keeps the last 1,000.'));
        return;
      }
      box.replaceChildren(
        el('p', {}, el('b', {}, `${it.method} ${it.path}`), it.query ? `?${it.query}` : '', ' returned ', el('b', { class: it.status >= 400 ? 'bad' : 'good' }, String(it.status)), ` in ${it.duration_ms} ms, `, time(it.at)),
        it.reason ? el('div', { class: 'box' }, el('h3', {}, 'Why'), el('p', {}, it.reason)) : '',
        it.notes.length ? el('div', { class: 'box' }, el('h3', {}, 'Notes'), el('ul', {}, it.notes.map((note) => el('li', {}, note)))) : '',
        fields([['booking', it.booking_id && link('bookings', it.booking_id)], ['session', it.session_id], ['key', it.key], ['organization', it.organization],
          ['idempotency key', it.idempotency_key], ['fault', it.fault]]),
        el('div', { class: 'row' }, copyButton(() => curl(it), 'Copy as curl')),
        message('Request', it.request), message('Response', it.response));
    },
  };
}

