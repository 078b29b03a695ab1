import { LRUCache } from 'lru-cache'
import { limitMax, nextLimit } from './adaptiveLimit.ts'
import { createAllowances } from './allowances.ts'
import { type FollowedLoad, followLoad, loadWindowMs } from './followLoad.ts'

/** `read` is a free read, `quote` a request for a price, and `proof` a proof that is not verified yet. */
export type Purpose = 'read' | 'quote' | 'proof'

export interface AdmissionRequest {
  readonly purpose: Purpose
  readonly address: string
}

export type Permit = NonNullable<ReturnType<Admission['enter']>>
export type Admission = ReturnType<typeof createAdmission>

/** Requests in progress are counted by group: strangers by purpose, known payers, and verified payments. */
type Group = Purpose | 'payer' | 'proven'

const shareOfLimit = 1 / 2
// Maximum of requests in progress in the group of known payers. Further requests of payers count as requests of
// strangers.
const payersMax = 500
// Reads per window of 100 ms that the count of reads never refuses. They are enough for the files of a page.
const readsMin = 20
const probesPerSecondMax = 10
const probersMax = 10_000
const msPerSecond = 1_000
// A paid request passes the event loop about 20 times. At this utilization each pass takes three times as long as on an
// idle loop.
const busyUtilization = 0.7
const busyLagMs = 8
// Work per request in units of about 0.2 ms, measured by `npm run bench -- attacks`.
const unitsOf: Readonly<Record<Purpose, number>> = { read: 2, quote: 5, proof: 8 }
const refusalUnits = 1

export interface AdmissionOptions {
  readonly now: () => number
  readonly limitAtStart?: number
  readonly adapt?: typeof nextLimit
  /** Absent: the load of this process. */
  readonly load?: FollowedLoad | undefined
}

/**
 * Creates the admission control. Each purpose has a share of a limit that follows the load. A claimed payment frees its
 * place at once. Its client address earns work that strangers cannot use up.
 */
export function createAdmission(options: AdmissionOptions) {
  const { now, limitAtStart = limitMax, adapt = nextLimit, load = followLoad() } = options
  const inProgress: Record<Group, number> = { read: 0, quote: 0, proof: 0, payer: 0, proven: 0 }
  const probes = new LRUCache<string, number>({ max: probersMax, ttl: msPerSecond, noUpdateTTL: true, perf: { now } })
  const allowances = createAllowances(now)
  const { turnsAway, restSeconds, hasEarned, reward } = allowances
  let limit = limitAtStart
  let reads = 0
  let servesPayers = false
  const isFull = (group: Group) =>
    inProgress[group] >= (group === 'payer' ? payersMax : Math.ceil(limit * shareOfLimit))
  // Treat a payer like a stranger if the group of payers is full, because other groups can still have room.
  const groupOf = ({ purpose, address }: AdmissionRequest): Group =>
    purpose !== 'read' && hasEarned(address) && !isFull('payer') ? 'payer' : purpose
  const window = setInterval(() => {
    const seen = load.read()
    servesPayers = seen.servesPayers
    limit = adapt(limit, seen)
    allowances.adapt(servesPayers && (seen.utilization > busyUtilization || seen.lagMs > busyLagMs))
    reads = 0
  }, loadWindowMs).unref()
  return {
    /** Counts the request, before any other work for it. True if the request must be refused now. */
    refuses(request: AdmissionRequest): boolean {
      load.arrived()
      const group = groupOf(request)
      const isTurnedAway = turnsAway(request.address)
      allowances.spend(request.address, isTurnedAway ? refusalUnits : unitsOf[request.purpose])
      if (isTurnedAway) return true
      // While payers are served, also limit the reads of the window, because few reads overlap.
      if (group === 'read' && ++reads > Math.max(readsMin, limit * shareOfLimit) && servesPayers) return true
      return isFull(group) || (group !== 'payer' && load.isFlood())
    },
    /** Takes a place in the group of the request. Undefined if the share of the group is full. */
    enter(request: AdmissionRequest) {
      let group = groupOf(request)
      if (isFull(group)) return undefined
      const startedAtMs = now()
      inProgress[group]++
      if (group === 'payer') load.sawPayer()
      return {
        /** Frees the place when the payment of this request is claimed. */
        prove(): void {
          inProgress[group]--
          group = 'proven'
          inProgress[group]++
          load.sawPayer()
        },
        /** Called at the first claim of the payment. The client address earns work in proportion to the price. */
        earn: (priceMicroUsd: bigint) => reward(request.address, priceMicroUsd),
        leave(): void {
          if (request.purpose === 'quote') load.quoted(now() - startedAtMs)
          inProgress[group]--
        },
      }
    },
    turnsAway,
    restSeconds,
    passesProbe(address: string): boolean {
      const count = (probes.get(address) ?? 0) + 1
      probes.set(address, count)
      return count <= probesPerSecondMax
    },
    inFlight: () => Object.values(inProgress).reduce((sum, each) => sum + each, 0),
    close(): void {
      clearInterval(window)
      load.close()
    },
  }
}
