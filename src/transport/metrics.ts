import { moneyMetrics } from './moneyMetrics.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

interface ShownCheck {
  readonly name: string
  readonly problem: () => string | undefined
}

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Creates the metrics. The values of labels come from closed lists, so a caller cannot create new series. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    ...trafficMetrics(registers),
    ...stateMetrics(registers),
    ...moneyMetrics(registers),
    showChecks: (checks: readonly ShownCheck[]) => showChecks(registers, checks),
  }
}

function trafficMetrics(registers: Registry[]) {
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })
  const seconds = (name: string, help: string, labelNames: string[] = []) =>
    new Histogram({ name, help, buckets: secondsBuckets, labelNames, registers })
  const requests = counter('tollbook_http_requests_total', 'Requests answered', ['route', 'status'])
  const durations = seconds('tollbook_http_request_seconds', 'Time to answer', ['route'])
  const flushes = seconds('tollbook_ledger_append_seconds', 'Time of one append of a batch')
  const batchItems = new Histogram({
    name: 'tollbook_ledger_append_items',
    help: 'Items in one append',
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  })
  const rpcCalls = counter('tollbook_rpc_calls_total', 'Calls to Solana nodes', ['method', 'ok'])
  const upstreamCalls = counter('tollbook_upstream_calls_total', 'Questions to providers, by how they ended', [
    'upstream',
    'outcome',
  ])
  const limited = counter('tollbook_rate_limited_total', 'Requests refused with 429', ['limit'])
  const steps = counter('tollbook_payment_steps_total', 'Steps of payments after their answers', ['step'])
  return {
    onRequest({ route, status, durationMs }: Readonly<{ route: string; status: number; durationMs: number }>): void {
      requests.inc({ route, status })
      durations.observe({ route }, durationMs / 1000)
    },
    onFlush({ items, durationMs }: Readonly<{ items: number; durationMs: number }>): void {
      flushes.observe(durationMs / 1000)
      batchItems.observe(items)
    },
    onRpcCall: ({ method, ok }: Readonly<{ method: string; ok: boolean }>) => rpcCalls.inc({ method, ok: String(ok) }),
    onUpstreamCall: ({ upstream, outcome }: Readonly<{ upstream: string; outcome: string }>) =>
      upstreamCalls.inc({ upstream, outcome }),
    onLimited: (limit: string) => limited.inc({ limit }),
    onLifecycleStep: (step: string, count = 1) => steps.inc({ step }, count),
  }
}

type NodeState = Readonly<{ name: string; slot: number; lagSlots: number; problem: string | undefined }>
type QuoteStorage = Readonly<{ bytes: number; oldestDays: number; retentionDays: number }>

/**
 * Creates the metrics of the service's state. The label of a node is its position in SOLANA_RPC_URLS, because a URL may
 * contain a key.
 */
function stateMetrics(registers: Registry[]) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const inRotation = gauge('tollbook_rpc_node_in_rotation', '1 while the node may say that a payment is absent', [
    'node',
  ])
  const slots = gauge('tollbook_rpc_node_slot', 'Newest confirmed slot of the node', ['node'])
  const lags = gauge('tollbook_rpc_node_lag_slots', 'Slots behind the best node', ['node'])
  const quotesSize = gauge('tollbook_quotes_bytes', 'Size of all stored quotes with their indexes')
  const quotesOldest = gauge('tollbook_quotes_oldest_days', 'Age of the oldest day that has quotes')
  const quotesRetention = gauge('tollbook_quotes_retention_days', 'Days for which quotes are stored')
  const signerDay = gauge('tollbook_signer_day_lamports', 'Budget of the signer for one day (UTC)')
  const signerLeft = gauge('tollbook_signer_left_lamports', 'Rest of the budget of this day')
  const burnOwed = gauge('tollbook_burn_owed_base_units', 'Received for burning and not burned yet')
  const burnOldest = gauge('tollbook_burn_owed_oldest_seconds', 'Age of the oldest burn that is owed; 0 when none is')
  const unsealed = gauge('tollbook_ledger_unsealed_events', 'Events that no checkpoint covers yet')
  const damaged = gauge('tollbook_ledger_damaged', '1 when the ledger is not what was recorded and signed')
  return {
    onNode({ name: node, slot, lagSlots, problem }: NodeState): void {
      inRotation.set({ node }, problem === undefined ? 1 : 0)
      slots.set({ node }, slot)
      lags.set({ node }, lagSlots)
    },
    onQuoteStorage({ bytes, oldestDays, retentionDays }: QuoteStorage): void {
      quotesSize.set(bytes)
      quotesOldest.set(oldestDays)
      quotesRetention.set(retentionDays)
    },
    onSignerBudget({ lamports, leftLamports }: Readonly<{ lamports: bigint; leftLamports: bigint }>): void {
      signerDay.set(Number(lamports))
      signerLeft.set(Number(leftLamports))
    },
    onBurnDebt({ owedBaseUnits, oldestSeconds }: Readonly<{ owedBaseUnits: bigint; oldestSeconds: number }>): void {
      burnOwed.set(Number(owedBaseUnits))
      burnOldest.set(oldestSeconds)
    },
    onSeal(seal: Readonly<{ unsealedEvents: number; damaged: boolean }>): void {
      unsealed.set(seal.unsealedEvents)
      damaged.set(seal.damaged ? 1 : 0)
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
