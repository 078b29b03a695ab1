import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { environmentNames, readConfig } from '../../src/config.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { readTlsIdentity } from '../../src/signer/tlsIdentity.ts'
import { readCompose, readText, readYaml, root } from './composeFile.ts'

const compose = readCompose()
const address = '11111111111111111111111111111111'
const services = Object.entries(compose.services)
const ours = services.filter(([, { image }]) => /^tollbook.*:local$/.test(image))

test('the services that are promised are there, two instances of the API among them', () => {
  const names = [
    'postgres',
    'migrate',
    'provision',
    'api-1',
    'api-2',
    'load-balancer',
    'prometheus',
    'grafana',
    'chain',
  ]
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(names))
  expect(compose.services['chain']?.profiles).toEqual(['local-chain'])
})

test('names of services, networks and volumes, and files that are mounted, exist', () => {
  for (const [name, service] of services) {
    for (const other of Object.keys(service.depends_on ?? {})) expect(compose.services, name).toHaveProperty([other])
    for (const secret of service.secrets ?? []) expect(compose.secrets, name).toHaveProperty([secret])
    for (const network of service.networks ?? []) expect(compose.networks, name).toHaveProperty([network])
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('./')) expect(existsSync(new URL(source, root)), volume).toBe(true)
      else expect(compose.volumes, name).toHaveProperty([source])
    }
  }
})

test('what stays has a health check; what has none is a job, or a tool for people', () => {
  for (const [name, { healthcheck, restart }] of services) expect('disable' in healthcheck, name).toBe(restart === 'no')
})

test('the API is ready before callers are let in, and after migrations and keys are there', () => {
  for (const name of ['api-1', 'api-2']) {
    const { healthcheck, depends_on: before } = compose.services[name] ?? {}
    expect(JSON.stringify(healthcheck)).toContain('/readyz')
    expect(before?.['migrate']?.condition).toBe('service_completed_successfully')
    expect(before?.['provision']?.condition).toBe('service_completed_successfully')
    expect(compose.services['load-balancer']?.depends_on?.[name]?.condition).toBe('service_healthy')
  }
})

test('only the load balancer and TLS in front of it can be published beyond loopback, and the database has no way out', () => {
  for (const [name, { ports = [] }] of services)
    for (const port of ports) expect(port.startsWith('127.0.0.1:'), name).toBe(!['load-balancer', 'tls'].includes(name))
  expect(compose.services['load-balancer']?.ports).toEqual(['${PUBLISHED_ADDRESS:-127.0.0.1}:3402:3402'])
  expect(compose.services['postgres']?.networks).toEqual(['inside'])
  expect(compose.networks['inside']?.internal).toBe(true)
})

test('the instances have a login each and see no other password, no wallet and no chain key', () => {
  for (const [name, number] of Object.entries({ 'api-1': 1, 'api-2': 2 })) {
    const service = compose.services[name]
    const connection = ['signer-client-certificate', 'signer-client-key', 'signer-authority']
    expect(service?.secrets).toEqual([`api-${number}-database-url`, 'receipt-key', ...connection])
    expect(service?.volumes).toEqual([
      'artifacts:/var/lib/tollbook/artifacts',
      'provisioned:/var/lib/tollbook/provisioned:ro',
      `checkpoint-${number}:/var/lib/tollbook/checkpoint`,
    ])
    // One file for each instance: two instances must not overwrite each other's newest checkpoint.
    expect(service?.environment?.['CHECKPOINT_FILE']).toBe('/var/lib/tollbook/checkpoint/newest')
  }
})

test('every process of ours runs without rights: not root, no capability, nothing of the image writable', () => {
  for (const [name, service] of ours) {
    expect(service, name).toMatchObject({ read_only: true, init: true, cap_drop: ['ALL'] })
    expect(service.security_opt, name).toContain('no-new-privileges:true')
  }
  const stages = readText('Dockerfile').split(/^FROM /m)
  const runnable = stages.filter((stage) => /^base AS|^postgres AS/.test(stage))
  expect(runnable).toHaveLength(3)
  for (const stage of runnable) {
    const lines = stage.split('\n')
    const user = stage.startsWith('base') ? 'USER node' : 'USER postgres'
    expect(lines).toContain(user)
    expect(lines.slice(lines.indexOf(user)).filter((line) => /^(RUN|COPY|ADD|USER root)/.test(line))).toEqual([])
  }
})

test('every variable that is set for a process of ours, or shown in the example, is one that the configuration reads', () => {
  const set = ours
    .flatMap(([, { environment = {} }]) => Object.keys(environment))
    .filter((name) => !name.startsWith('PGBACKREST_'))
  const image = [...readText('Dockerfile').matchAll(/^(?:ENV| ) *([A-Z_]+)=/gm)].map(([, name]) => name)
  const names = [...set, ...image, ...Object.keys(exampleVariables())].filter((name) => name !== 'NODE_ENV')
  expect(names.length).toBeGreaterThan(20)
  expect(
    names.filter((name) => name !== undefined && !environmentNames.includes(name.replace(/(?<=_(URL|KEY))_FILE$/, ''))),
  ).toEqual([])
})

test('an instance starts with the example as it is copied, and with its lines taken out of their comments', () => {
  const environment = compose.services['api-2']?.environment ?? {}
  const filled = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolated(value)]))
  const given = Object.entries(exampleVariables()).filter(([, value]) => value !== '' && !value.includes('…'))
  const models = { AI_MODEL: 'any', AI_FALLBACK_MODEL: 'any' }
  const needed = { TOKEN_MINT: address, PAYMENT_WALLET: address, ...models }
  const key = { RECEIPT_SIGNING_KEY: JSON.stringify(makeReceiptKey()) }
  expect(filled['DATABASE_URL_FILE']).toBe('/run/secrets/api-2-database-url')
  const secret = { DATABASE_URL_FILE: '', DATABASE_URL: 'postgres://tollbook_api_2:secret@postgres:5432/tollbook' }
  const config = readConfig({ ...filled, ...Object.fromEntries(given), ...needed, ...key, ...secret })
  expect(config).toMatchObject({
    server: { host: '0.0.0.0', port: 3402, trustedProxyHops: 1 },
    products: { newsPolling: false },
    ledger: { databaseUrl: 'postgres://tollbook_api_2:secret@postgres:5432/tollbook', requiresStandby: false },
  })
})

test('fault 19: every role that the schema grants to exists before a backup is restored', () => {
  const files = globSync(['migrations/**/*.sql', 'packages/ledger/sql/**/*.sql'], { cwd: fileURLToPath(root) })
  const schema = files.map(readText).join('\n')
  const grantees = [...schema.matchAll(/\bto ((?:tollbook_\w+(?:, )?)+);/g)].flatMap(([, list = '']) =>
    list.split(', '),
  )
  expect(new Set(grantees).size).toBeGreaterThan(3)
  for (const file of ['deploy/postgres/roles.sh', 'deploy/patroni/create-roles.sh']) {
    const roles = new Set([...readText(file).matchAll(/^create role (\w+)/gm)].map(([, role]) => role))
    expect(
      [...new Set(grantees)].filter((role) => !roles.has(role)),
      file,
    ).toEqual([])
  }
})

test('a login of every group may connect to the database of the ledger', () => {
  for (const file of ['deploy/postgres/roles.sh', 'deploy/patroni/create-roles.sh']) {
    const script = readText(file)
    const groups = [...script.matchAll(/^create role (tollbook_\w+) nologin;/gm)].map(([, group]) => group)
    const [, list = ''] = /^grant connect on database tollbook to ([\w, ]+);/m.exec(script) ?? []
    const refused = groups.filter((group) => !list.split(', ').includes(group ?? ''))
    // Its members are logins of the service.
    expect(refused, file).toEqual(['tollbook_retention'])
  }
})

test('fault 4: no secret is in the environment of a container, and each login is known to its users only', () => {
  expect(readText('docker-compose.yml')).not.toMatch(/(PASSWORD|KEY|DATABASE_URL): ?[^\n]*\$\{\w+:\?/)
  const readers = (secret: string) =>
    services.filter(([, { secrets = [] }]) => secrets.includes(secret)).map(([name]) => name)
  expect(readers('owner-database-url')).toEqual(['migrate'])
  expect(readers('api-1-database-url')).toEqual(['api-1'])
  expect(readers('payout-database-url')).toEqual(['payout'])
  expect(readers('receipt-key')).toEqual(['api-1', 'api-2', 'finance'])
  expect(readers('finance-database-url')).toEqual(['finance'])
  expect(readers('backup-password')).toEqual(['postgres', 'receive-wal'])
  expect(readers('anchor-keypair')).toEqual(['anchor'])
  expect(readers('anchor-rpc-url')).toEqual(['anchor'])
  expect(readers('fee-payer')).toEqual(['signer'])
  expect(readers('signer-database-url')).toEqual(['signer'])
  expect(readers('signer-key')).toEqual(['signer'])
})

test('the signer is reached by the instances over mutual TLS only, and reaches the database alone', () => {
  const { signer, finance } = compose.services
  expect([signer?.profiles, signer?.networks, signer?.ports]).toEqual([['signer'], ['inside'], undefined])
  const environment = { ...signer?.environment, TOKEN_MINT: address, PAYMENT_WALLET: address }
  const { place } = readConfig({ ...environment, SIGNER_DATABASE_URL_FILE: '' }).signer
  expect(place).toMatchObject({ host: '0.0.0.0', port: 8443, tls: { SIGNER_TLS_CA: '/run/secrets/signer-authority' } })
  expect(compose.services['api-1']?.environment).toMatchObject({ SIGNER_ADDRESS: '${SIGNER_ADDRESS:-}' })
  expect(finance?.environment?.['SIGNER_ADDRESS']).toBe('')
})

test('the signer reads the variables of the service, with the former wallet of a change among them', () => {
  expect(Object.keys(exampleVariables())).toContain('SIGNER_FORMER_WALLET')
  const { env_file, environment = {} } = compose.services['signer'] ?? {}
  expect(env_file).toBe('deploy/service.env')
  // A variable of the container wins over the file.
  expect(Object.keys(environment).filter((name) => Object.hasOwn(exampleVariables(), name))).toEqual([])
})

test('anchor and witness publish checkpoints by schedule, without a login, a key of the service or its configuration', () => {
  for (const name of ['anchor', 'witness']) {
    const service = compose.services[name]
    expect([service?.profiles, service?.networks, service?.env_file]).toEqual([[name], ['outside'], undefined])
    expect(service?.command?.filter((word) => word.startsWith('--every='))).toHaveLength(1)
    expect(service?.command).toContain('--key=/run/secrets/receipt-jwks')
  }
  expect(compose.services['witness']?.secrets).toEqual(['receipt-jwks'])
  expect(compose.services['anchor']?.environment).toEqual({ ANCHOR_RPC_URL_FILE: '/run/secrets/anchor-rpc-url' })
})

test('fault 4: the drill reads backups and checkpoints, and reaches neither the database nor a login', () => {
  const { secrets, network_mode, networks, volumes } = compose.services['drill'] ?? {}
  expect([secrets, network_mode, networks]).toEqual([undefined, 'none', undefined])
  expect(volumes?.filter((volume) => !volume.endsWith(':ro'))).toEqual(['scratch:/var/lib/tollbook/scratch'])
})

test('fault 4: finance has its own listener on loopback, with a login that decides and one that only reads', () => {
  const finance = compose.services['finance']
  expect([finance?.profiles, finance?.ports]).toEqual([['finance'], ['127.0.0.1:3403:3403']])
  const logins = Object.keys(finance?.environment ?? {}).filter((name) => name.includes('DATABASE_URL'))
  expect(logins).toEqual(['DATABASE_URL_FILE', 'FINANCE_DATABASE_URL_FILE', 'REPORTS_DATABASE_URL_FILE'])
  expect(readText('deploy/postgres/roles.sh')).toMatch(
    /tollbook_finance_desk .* in role tollbook_finance, tollbook_reader/,
  )
})

test('every secret that the compose file asks for is made by deploy/init.sh, readable in a closed folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollbook-init-'))
  try {
    cpSync(fileURLToPath(new URL('deploy', root)), join(folder, 'deploy'), {
      recursive: true,
      filter: (path) => !path.includes('secrets'),
    })
    const init = () => execFileSync('sh', [join(folder, 'deploy/init.sh')])
    init()
    const secrets = join(folder, 'deploy/secrets')
    const read = () =>
      Object.fromEntries(readdirSync(secrets).map((name) => [name, readFileSync(join(secrets, name), 'utf8')]))
    const first = read()
    expect(new Set(Object.keys(first))).toEqual(new Set(Object.keys(compose.secrets)))
    expect(first['api-1-database-url']).toBe(
      `postgres://tollbook_api_1:${first['api-1-password']}@postgres:5432/tollbook`,
    )
    await expectSignerCertificates(secrets, first)
    expect([statSync(secrets).mode & 0o777, statSync(join(secrets, 'owner-password')).mode & 0o777]).toEqual([
      0o700, 0o644,
    ])
    init()
    expect(read()).toEqual(first)
    // Empty files, as a run on a machine without OpenSSL leaves them.
    const written = Object.keys(first).filter((name) => /^signer-.*(?:authority|certificate|key)$/.test(name))
    execFileSync('sh', ['-c', 'for file; do : > "$file"; done', 'sh', ...written.map((name) => join(secrets, name))])
    init()
    await expectSignerCertificates(secrets, read())
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** Without OpenSSL the files are empty, and the operator fills them. */
async function expectSignerCertificates(folder: string, written: Readonly<Record<string, string>>): Promise<void> {
  const hasOpenSsl = spawnSync('openssl', ['version']).status === 0
  for (const side of ['signer', 'signer-client']) {
    const files = {
      SIGNER_TLS_CERT: join(folder, `${side}-certificate`),
      SIGNER_TLS_KEY: join(folder, `${side}-key`),
      SIGNER_TLS_CA: join(folder, 'signer-authority'),
    }
    if (hasOpenSsl) expect((await readTlsIdentity(files, Date.now())).cert).toBe(written[`${side}-certificate`])
    else expect(written[`${side}-certificate`]).toBe('')
  }
}

test('alerts and dashboard ask for metrics and labels that the service has', async () => {
  const { names, labels } = await servedMetrics()
  const expressions = [...alertExpressions(), ...dashboardExpressions()]
  expect(expressions.length).toBeGreaterThan(15)
  for (const expression of expressions) {
    expect([...metricsIn(expression)].filter((name) => !names.has(name))).toEqual([])
    expect([...labelsIn(expression)].filter((name) => !labels.has(name))).toEqual([])
  }
})

test('each metric of the operations manual exists, and each of ours is on the dashboard', async () => {
  const manual = readText('docs/operations.md').split('| metric | meaning |')[1]?.split('\n\n')[0] ?? ''
  const listed = [...manual.matchAll(/`((?:tollbook|nodejs)_\w+)/g)].map(([, name = '']) => name)
  expect(listed.length).toBeGreaterThan(10)
  const { names } = await servedMetrics()
  // A histogram is served as its buckets, sum and count.
  expect(listed.filter((name) => !names.has(name) && !names.has(`${name}_count`))).toEqual([])
  const dashboard = dashboardExpressions().join('\n')
  const own = createMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
  expect(own.filter((name) => name.startsWith('tollbook_') && !dashboard.includes(name))).toEqual([])
})

test('no file names a host that is not ours: images come from wherever the operator gets images', () => {
  const files = [
    'Dockerfile',
    'docker-compose.yml',
    'docs/deploy.md',
    ...globSync('deploy/**/*.*', { cwd: fileURLToPath(root) }).filter((file) => file !== 'deploy/service.env'),
  ]
  // Addresses of 10.0.0.0/24 are the operator's own nodes, in examples.
  const known = new Set(['127.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.3', ...Object.keys(compose.services)])
  for (const file of files) {
    const hosts = [
      ...readText(file)
        .replaceAll(/\$\{\w+:\?[^}]*\}/g, '')
        .matchAll(/\b(?:https?|postgres):\/\/(?:[^\s/'"`]*@)?([\w.-]+)/g),
    ].map(([, host = '']) => host)
    expect(
      hosts.filter((host) => !known.has(host) && !/(^|\.)example\.com$/.test(host)),
      file,
    ).toEqual([])
  }
  const images = [
    ...services.map(([, { image }]) => image),
    ...[...readText('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
  ]
  // With a dot or a port in front of the first slash it would be a host.
  expect(images.filter((image) => /^[^/]*[.:][^/]*\//.test(image) || image.endsWith(':latest'))).toEqual([])
})

/** Also those behind a comment sign. */
function exampleVariables(): Record<string, string> {
  const lines = readText('deploy/example.env').matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
}

function interpolated(value: string): string {
  return value.replaceAll(/\$\{\w+:([-?])([^}]*)\}/g, (_, kind, rest) => (kind === '-' ? rest : 'secret'))
}

const alertFile = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
})

function alertExpressions(): readonly string[] {
  const { groups } = alertFile.parse(readYaml('deploy/prometheus/alerts.yml'))
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
}

const dashboardFile = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })

function dashboardExpressions(): readonly string[] {
  const files = globSync('deploy/grafana/dashboards/*.json', { cwd: fileURLToPath(root) })
  return files
    .flatMap((file) => dashboardFile.parse(JSON.parse(readText(file))).panels)
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

/**
 * Content of a scrape after one event of every kind; `up`, `instance` and `job` are Prometheus' own, and the age is
 * added on HEALTH_PORT.
 */
async function servedMetrics() {
  const metrics = createMetrics()
  metrics.onRequest({ route: '/livez', status: 200, durationMs: 1 })
  metrics.onFlush({ items: 1, durationMs: 1 })
  metrics.onRpcCall({ method: 'getSlot', ok: true })
  metrics.onNode({ name: '1', slot: 1, lagSlots: 0, problem: undefined })
  metrics.onUpstreamCall({ upstream: 'ai-1', outcome: 'ok' })
  metrics.onLifecycleStep('finalized')
  metrics.onSeal({ unsealedEvents: 0, damaged: false })
  metrics.onLimited('requests')
  metrics.onMoney({
    mint: 'mint',
    accounts: [{ account: 'Assets:PaymentWallet', baseUnits: 1n }],
    endpoints: [{ endpoint: '/api/tools/qrcode', allocatedBaseUnits: 1n, allocatedMicroUsd: 1n }],
    refundsDueBaseUnits: 0n,
    walletBaseUnits: 1n,
    walletDifferenceBaseUnits: 0n,
    exposedBaseUnits: 0n,
    lateEntries: 0,
    readAtMs: 0,
  })
  metrics.onQuoteStorage({ bytes: 0, oldestDays: 0, retentionDays: 3 })
  metrics.onNode({ name: 'node', slot: 1, lagSlots: 0, problem: undefined })
  metrics.showChecks([{ name: 'ledger', problem: () => undefined }])
  const served = await metrics.registry.metrics()
  const names = [...served.matchAll(/^([a-z]\w*)/gm)].map(([name]) => name)
  const labels = [...served.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label)
  return {
    names: new Set(['up', 'tollbook_metrics_age_seconds', ...names]),
    labels: new Set(['instance', 'job', ...labels]),
  }
}

function metricsIn(expression: string): Set<string> {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(by|offset) (\([^)]*\)|\w+)/g, ' ')
  const words = bare.match(/\b[a-z_]\w*\b(?!\s*\()/g) ?? []
  return new Set(words.filter((word) => !['or', 'unless', 'by', 'sum', 'and'].includes(word)))
}

function labelsIn(expression: string): Set<string> {
  const matched = [...expression.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
  return new Set([...matched, ...grouped])
}
