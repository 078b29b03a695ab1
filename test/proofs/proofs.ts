/**
 * Programs that show one promise together. Each has a name that runs it alone, and ends with 0 (holds), 1 (broken) or 2
 * (not run).
 */
export interface Proof {
  readonly about: string
  /** Files of this folder by the name of the program. */
  readonly programs: Readonly<Record<string, string>>
}

/** All proofs, in the order of CONTRIBUTING.md. */
export const proofs: Readonly<Record<string, Proof>> = {
  claims: {
    about:
      'one payment presented 64 ways at once over four processes, by one rail and by three, over HTTP and MCP, is served once',
    programs: { race: 'race.ts', rails: 'rails.ts' },
  },
  paths: {
    about: 'spellings of paths, methods, queries and bodies reach no product unpaid or with another meaning',
    programs: { paths: 'paths.ts' },
  },
  kills: {
    about: '`kill -9` of the server at each step and of Postgres under load, and lost acknowledgements, lose no answer',
    programs: { crash: 'serverCrash.ts', postgres: 'postgresCrash.ts', lost: 'lostAnswers.ts' },
  },
  matrix: {
    about:
      'operator change × state of a payment × rail × client: no payment is asked for twice, none is refused for good',
    programs: { matrix: 'matrix.ts' },
  },
  simulation: {
    about: '1,000 seeded runs against lost answers, kills, clock jumps, forks and lying nodes; `--seed N`, `--planted`',
    programs: { simulation: 'simulation.ts' },
  },
  mutations: {
    about: 'the tests notice when one condition, constant or statement changes; mutants are made from the code',
    programs: { mutations: 'mutations.ts' },
  },
  upgrade: {
    about: 'the last release on the new schema under paid load, then replaced: nothing lost, nothing twice',
    programs: { upgrade: 'upgrade.ts' },
  },
  stock: {
    about: 'stock clients of x402 and MPP buy all products while a proxy loses every second answer (`--drop 0`: none)',
    programs: { x402: 'x402.ts', mpp: 'mpp.ts' },
  },
  dollars: {
    about:
      'stock clients with no option set buy all products in dollars; two mints, four servers and three rails keep exact sums through kills, forks, price jumps, the limit of promised burns and a peg that leaves',
    programs: { clients: 'dollars.ts', mints: 'dollarKills.ts' },
  },
  mcp: {
    about: 'stock clients of MCP buy every product as a tool; the conformance suite, with a reason for each failure',
    programs: { tools: 'toolPurchases.ts', conformance: 'conformance.ts' },
  },
  metered: {
    about:
      '500 chats on a tab over a model of 12 behaviours, half of them by a route of a file, and rows and bytes cost what a separate program computes from the received bytes',
    programs: { metered: 'metered.ts' },
  },
  tabs: {
    about:
      'debits on 1, 10 and 1,000 tabs under kills of four servers and Postgres add up to the base unit, and attacks on tabs are refused',
    programs: { spend: 'tabSpend.ts', attacks: 'tabAttacks.ts' },
  },
  payouts: {
    about: 'each owed burn and each share of a holder is paid once, although the job is killed at every step',
    programs: { burn: 'burn.ts', holders: 'holders.ts' },
  },
  nodes: {
    about: 'Solana nodes that lag, stand still, fork, deny, lie or fail cost no payer money',
    programs: { nodes: 'nodes.ts' },
  },
  failover: {
    about: 'a synchronous failover loses nothing; an asynchronous one and an old backup close the service',
    programs: { failover: 'failover.ts' },
  },
  restore: {
    about:
      "a destroyed cluster is restored with every payment, or to a time; a tampered backup is found; needs Debian's `postgresql` and `pgbackrest`",
    programs: { restore: 'restore.ts' },
  },
  deployment: {
    about: 'Compose, the Helm chart and Patroni lose and resell no payment',
    programs: { compose: 'compose.ts', chart: 'chart.ts', patroni: 'patroni.ts' },
  },
  network: {
    about:
      'the service sells behind PgBouncer, and behind our load balancer under attack; needs `pgbouncer`, `haproxy`',
    programs: { pooler: 'pooler.ts', proxy: 'proxy.ts' },
  },
  agent: {
    about:
      'three windows and a proxy on one agent wallet: `kill -9` of wallet and front ends, the limit exact, nothing paid or deposited twice',
    programs: { wallet: 'agent.ts', tabs: 'agentTabs.ts' },
  },
  gateway: {
    about:
      '1,000 failures of 46 kinds of an upstream are not charged, the same proof buys, and other routes sell meanwhile',
    programs: { gateway: 'gateway.ts' },
  },
  goods: {
    about: "faulty providers sell no wrong answer, and OpenAI's client library buys whole and streamed chats",
    programs: { data: 'data.ts', chat: 'chat.ts' },
  },
  renderer: {
    about: 'hostile pages neither starve honest callers nor reach a private address (400 attacks)',
    programs: { rendering: 'rendering.ts', egress: 'egress.ts' },
  },
  web: {
    about: 'in Chromium: 150 pages to capture, purchases by a wallet of the browser, the finance pages and questions',
    programs: {
      pages: 'pages.ts',
      browser: 'browser.ts',
      finance: 'finance.ts',
      questions: 'questions.ts',
    },
  },
  newcomer: {
    about:
      '`npm start` without a network, a new operator with the packed till, the packages on Node 20 to 24, and the Python samples sell and buy',
    programs: { offline: 'offline.ts', packages: 'packages.ts', till: 'till.ts', python: 'python.ts' },
  },
  seal: {
    about: "the audit names some 250 kinds of tampering; Go's implementation and ours read each other's seals",
    programs: { tampering: 'tampering.ts', transparency: 'transparency.ts' },
  },
}
