import { type MoneyMetrics, moneyMetrics } from './moneyMetrics.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Everything the service counts, for Prometheus. Labels are closed lists: a caller cannot make new series. */
export interface Metrics extends MoneyMetrics {
  readonly registry: Registry
  onRequest(request: { readonly route: string; readonly status: number; readonly durationMs: number }): void
  onFlush(flush: { readonly items: number; readonly durationMs: number }): void
  onRpcCall(call: { readonly method: string; readonly ok: boolean }): void
  onNode(node: {
    readonly name: string
    readonly slot: number
    readonly lagSlots: number
    readonly problem: string | undefined
  }): void
  onLifecycleStep(step: string, count?: number): void
  onUpstreamCall(call: { readonly upstream: string; readonly outcome: string }): void
  onLimited(limit: string): void
  onQuoteStorage(quotes: { readonly bytes: number; readonly oldestDays: number; readonly retentionDays: number }): void
  onSignerBudget(day: { readonly lamports: number; readonly leftLamports: number }): void
  onBurnDebt(debt: { readonly owedBaseUnits: bigint; readonly oldestSeconds: number }): void
  onSeal(seal: { readonly unsealedEvents: number; readonly damaged: boolean }): void
  /** Shows the checks of /api/health, as they are when the metrics are read. */
  showChecks(checks: readonly ShownCheck[]): void
}

interface ShownCheck {
  readonly name: string
  readonly problem: () => string | undefined
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'tollbook_http_requests_total',
    help: 'Requests answered',
    labelNames: ['route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'tollbook_http_request_seconds',
    help: 'Time to answer',
    labelNames: ['route'],
    buckets: secondsBuckets,
    registers,
  })
  const flushes = new Histogram({
    name: 'tollbook_ledger_append_seconds',
    help: 'Time of one append of a batch',
    buckets: secondsBuckets,
    registers,
  })
  const batchItems = new Histogram({
    name: 'tollbook_ledger_append_items',
    help: 'Items in one append',
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  })
  const rpcCalls = new Counter({
    name: 'tollbook_rpc_calls_total',
    help: 'Calls to Solana nodes',
    labelNames: ['method', 'ok'],
    registers,
  })
  const upstreamCalls = new Counter({
    name: 'tollbook_upstream_calls_total',
    help: 'Questions to providers, by how they ended',
    labelNames: ['upstream', 'outcome'],
    registers,
  })
  return {
    registry,
    onRequest({ route, status, durationMs }) {
      requests.inc({ route, status })
      durations.observe({ route }, durationMs / 1000)
    },
    onFlush({ items, durationMs }) {
      flushes.observe(durationMs / 1000)
      batchItems.observe(items)
    },
    onUpstreamCall: ({ upstream, outcome }) => upstreamCalls.inc({ upstream, outcome }),
    onRpcCall: ({ method, ok }) => rpcCalls.inc({ method, ok: String(ok) }),
    ...nodeMetrics(registers),
    ...jobMetrics(registers),
    ...quoteMetrics(registers),
    ...limitMetrics(registers),
    ...burnMetrics(registers),
    ...signerMetrics(registers),
    ...moneyMetrics(registers),
    showChecks: (checks) => showChecks(registers, checks),
  }
}

/** Gauges of each Solana node, by its number in SOLANA_RPC_URLS. */
function nodeMetrics(registers: Registry[]): Pick<Metrics, 'onNode'> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['node'], registers })
  const inRotation = gauge('tollbook_rpc_node_in_rotation', '1 while the node may say that a payment is absent')
  const slots = gauge('tollbook_rpc_node_slot', 'Newest confirmed slot of the node')
  const lags = gauge('tollbook_rpc_node_lag_slots', 'Slots behind the best node')
  return {
    onNode({ name: node, slot, lagSlots, problem }) {
      inRotation.set({ node }, problem === undefined ? 1 : 0)
      slots.set({ node }, slot)
      lags.set({ node }, lagSlots)
    },
  }
}

function limitMetrics(registers: Registry[]): Pick<Metrics, 'onLimited'> {
  const limited = new Counter({
    name: 'tollbook_rate_limited_total',
    help: 'Requests refused with 429',
    labelNames: ['limit'],
    registers,
  })
  return { onLimited: (limit) => limited.inc({ limit }) }
}

/** Gauges of the table of quotes, which anyone can fill. */
function quoteMetrics(registers: Registry[]): Pick<Metrics, 'onQuoteStorage'> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const size = gauge('tollbook_quotes_bytes', 'Size of all stored quotes with their indexes')
  const oldest = gauge('tollbook_quotes_oldest_days', 'Age of the oldest day that has quotes')
  const retention = gauge('tollbook_quotes_retention_days', 'Days after which quotes are dropped')
  return {
    onQuoteStorage({ bytes, oldestDays, retentionDays }) {
      size.set(bytes)
      oldest.set(oldestDays)
      retention.set(retentionDays)
    },
  }
}

/** Gauges of the budget for the network fees of x402 payments. */
function signerMetrics(registers: Registry[]): Pick<Metrics, 'onSignerBudget'> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const day = gauge('tollbook_signer_day_lamports', 'Budget of the signer for one day (UTC)')
  const left = gauge('tollbook_signer_left_lamports', 'Rest of the budget of this day')
  return {
    onSignerBudget({ lamports, leftLamports }) {
      day.set(lamports)
      left.set(leftLamports)
    },
  }
}

/** Gauges of burns that the service owes. */
function burnMetrics(registers: Registry[]): Pick<Metrics, 'onBurnDebt'> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const owed = gauge('tollbook_burn_owed_base_units', 'Received for burning and not burned yet')
  const oldest = gauge('tollbook_burn_owed_oldest_seconds', 'Age of the oldest burn that is owed; 0 when none is')
  return {
    onBurnDebt({ owedBaseUnits, oldestSeconds }) {
      owed.set(Number(owedBaseUnits))
      oldest.set(oldestSeconds)
    },
  }
}

function showChecks(registers: Registry[], checks: readonly ShownCheck[]): void {
  // The registry calls `collect` before each scrape.
  const failing: Gauge = new Gauge({
    name: 'tollbook_check_failing',
    help: '1 while a check of /api/health fails, which says why',
    labelNames: ['check'],
    registers,
    collect() {
      for (const { name, problem } of checks) failing.set({ check: name }, problem() === undefined ? 0 : 1)
    },
  })
}

/** Counters and gauges that the background jobs feed. */
function jobMetrics(registers: Registry[]): Pick<Metrics, 'onLifecycleStep' | 'onSeal'> {
  const lifecycleSteps = new Counter({
    name: 'tollbook_payment_steps_total',
    help: 'Steps of payments after their answers',
    labelNames: ['step'],
    registers,
  })
  const unsealed = new Gauge({
    name: 'tollbook_ledger_unsealed_events',
    help: 'Events that no checkpoint covers yet',
    registers,
  })
  const damaged = new Gauge({
    name: 'tollbook_ledger_damaged',
    help: '1 when the ledger is not what was recorded and signed',
    registers,
  })
  return {
    onLifecycleStep: (step, count = 1) => lifecycleSteps.inc({ step }, count),
    onSeal(seal) {
      unsealed.set(seal.unsealedEvents)
      damaged.set(seal.damaged ? 1 : 0)
    },
  }
}
