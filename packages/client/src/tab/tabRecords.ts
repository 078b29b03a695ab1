import { z } from 'zod'
import { readBase64 } from '@tollbook/core/base64'
import { sha256Hex } from '@tollbook/core/digest'
import { parseJson } from '@tollbook/core/json'
import type { PayableQuote } from '../checkQuote.ts'
import { PayerFault } from '../errorCode.ts'
import type { PaymentStore } from '../paymentStore.ts'
import { addressText } from '../sponsored/offerText.ts'

/**
 * Record of a tab of one wallet at one service. It is stored before the deposit is signed, so that a later process
 * repeats the same purchase. `secretKey` can spend the tab.
 */
const tabRecord = z.object({
  format: z.literal('tollbook-tab-1'),
  /** URL of the service, without a trailing slash. */
  service: z.string(),
  wallet: z.string(),
  secretKey: z.string().refine((text) => readBase64(text)?.length === 64),
  depositUsd: z.number(),
  idempotencyKey: z.string(),
  /** A signed deposit without a known outcome. If `protocol` is absent, the ID of the tab follows from `signature`. */
  deposit: z
    .object({ signature: z.string(), signedAtMs: z.number(), protocol: z.enum(['x402', 'mpp']).exactOptional() })
    .exactOptional(),
  opened: z
    .object({ tab: z.string(), deposit: z.string(), mint: addressText, origin: z.string(), endsAtMs: z.number() })
    .exactOptional(),
  /** True if the service accepts no more debits. No other tab is opened until `endsAtMs`. */
  isClosed: z.boolean(),
})

export type TabRecord = z.infer<typeof tabRecord>
export type OpenedRecord = TabRecord & Required<Pick<TabRecord, 'opened'>>

export type TabRecords = ReturnType<typeof createTabRecords>

interface KnownPrice {
  readonly quote: PayableQuote
  /** On the monotonic clock, so it is not a Unix time. */
  readonly atMs: number
}

/** Records are in memory if the store does not keep tabs. */
export function createTabRecords(store: PaymentStore | undefined, wallet: string) {
  const memory = new Map<string, string>()
  const lasts = new Map<string, Promise<unknown>>()
  const nameOf = (service: string) => sha256Hex(`tab ${wallet} ${service}`).slice(0, nameCharacters)
  const keep = async (name: string, text: string | undefined) => {
    if (store?.keepTab !== undefined) await store.keepTab(name, text)
    else if (text === undefined) memory.delete(name)
    else memory.set(name, text)
  }
  return {
    /** URLs of services that answered that they sell no tabs. */
    without: new Set<string>(),
    /** Key: method, URL without its query, and tool. */
    prices: new Map<string, KnownPrice>(),
    async read(service: string) {
      const name = nameOf(service)
      const text = store?.readTab === undefined ? memory.get(name) : await store.readTab(name)
      return text === undefined ? undefined : parseRecord(name, text)
    },
    write: (record: TabRecord) => keep(nameOf(record.service), JSON.stringify(record)),
    forget: (service: string) => keep(nameOf(service), undefined),
    /**
     * Runs the work after all earlier work on the tabs of this service. If the store has `takeTurn`, this includes work
     * of other processes.
     */
    async exclusively<T>(service: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      const name = nameOf(service)
      const inTurn = async () => {
        const turn = await store?.takeTurn?.(name, signal)
        try {
          return await work()
        } finally {
          await turn?.end()
        }
      }
      // Run the work even if the previous call failed, because the caller of that call gets its error.
      const last = (lasts.get(name) ?? Promise.resolve()).then(inTurn, inTurn)
      lasts.set(name, last)
      return last
    },
  }
}

const nameCharacters = 32

/** Error messages never contain the record, because it contains the key. */
function parseRecord(name: string, text: string): TabRecord {
  const { data } = tabRecord.safeParse(parseJson(text))
  if (data !== undefined) return data
  const way = 'restore it, or close the tab by its wallet and use another store'
  throw new PayerFault('FOLDER_UNUSABLE', `the record tab-${name} of a tab is damaged; ${way}`, { retryable: false })
}
