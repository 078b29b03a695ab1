import { LRUCache } from 'lru-cache'
import type { ChainReader } from '../../payment/chainReader.ts'
import type { Presentation, Presentations } from '../../payment/presentations.ts'

export interface FirstPresentationDeps {
  readonly chain: Pick<ChainReader, 'landingBound' | 'timeMs'>
  readonly presentations: Presentations
  /**
   * Called if a presentation could not be recorded, for the operator's log. A repeated proof may then count as
   * presented later.
   */
  readonly onUnrecorded: (error: unknown, presented: Presented) => void
}

type Presented = Pick<Presentation, 'reference' | 'wallet'>

/**
 * First presentations of proofs. Each presentation is stored in memory at once, and is recorded in the database if its
 * proof could not be decided.
 */
export interface FirstPresentations {
  /** Stores the presentation in memory only, before the transaction is looked up or sent. */
  note(presented: Presented): void
  record(presented: Presented): Promise<Presentation>
  /**
   * Like `record`, but logs a failure instead of throwing. Used while another fault is handled, so that a failed write
   * does not replace that fault.
   */
  recordIfPossible(presented: Presented): Promise<void>
  find(presented: Presented): Promise<Presentation | undefined>
}

// Maximum number of presentations in memory. An older one is read from the database, if it was recorded.
const notedMax = 20_000
// The option `max` of lru-cache reserves memory for all items at once: 4 ms for each cache of each rail.
const cacheBound = { maxSize: notedMax, sizeCalculation: () => 1 }

export function createFirstPresentations({
  chain,
  presentations,
  onUnrecorded,
}: FirstPresentationDeps): FirstPresentations {
  const noted = new LRUCache<string, Presentation>(cacheBound)
  const recorded = new LRUCache<string, Presentation>(cacheBound)
  const keyOf = ({ reference, wallet }: Presented) => `${reference} ${wallet}`
  const note = ({ reference, wallet }: Presented): Presentation => {
    const key = keyOf({ reference, wallet })
    const known = noted.get(key)
    if (known !== undefined) return known
    const first = { reference, wallet, presentedAtMs: chain.timeMs(), bound: chain.landingBound() }
    noted.set(key, first)
    return first
  }
  const record = async (presented: Presented): Promise<Presentation> => {
    const key = keyOf(presented)
    const known = recorded.get(key)
    if (known !== undefined) return known
    const first = await presentations.record(note(presented))
    recorded.set(key, first)
    return first
  }
  return {
    note: (presented) => void note(presented),
    record,
    async recordIfPossible(presented) {
      try {
        await record(presented)
      } catch (error) {
        onUnrecorded(error, presented)
      }
    },
    async find(presented) {
      return earlier(noted.get(keyOf(presented)), await presentations.find(presented))
    },
  }
}

function earlier(one: Presentation | undefined, other: Presentation | undefined): Presentation | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.presentedAtMs <= other.presentedAtMs ? one : other
}
