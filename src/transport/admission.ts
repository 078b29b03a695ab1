import { limitMax, nextLimit } from './adaptiveLimit.ts'
import { type Allowances, createAllowances } from './allowances.ts'
import { createEarnedWork, type EarnedWork } from './earnedWork.ts'
import { followLoad, loadWindowMs } from './followLoad.ts'

/** Why a request came: to read something free, to ask for a price, or with a proof that is not verified yet. */
export type Purpose = 'read' | 'quote' | 'proof'

/** A request as admission sees it, before anything of it is verified. */
export interface AdmissionRequest {
  readonly purpose: Purpose
  /** The client address as limits count it. */
  readonly address: string
}

/** A place among the requests in progress. */
export interface Slot {
  /** The payment of this request is claimed. */
  prove(): void
  /** The payment was claimed for the first time: its client address earns work in proportion to the price. */
  earn(priceMicroUsd: bigint): void
  leave(): void
}

/**
 * Limits the requests in progress. Each purpose has a share of a limit that follows the load. A claimed payment leaves its share
 * at once and is never refused, and it earns its client address work that strangers cannot crowd out.
 */
export interface Admission {
  /** Undefined when the share of such requests is full. */
  enter(request: AdmissionRequest): Slot | undefined
  /** Whether `enter` would refuse. Asked before anything is done for a request. */
  refuses(request: AdmissionRequest): boolean
  /** Whether a new connection of this address is to be left unread. */
  turnsAway(address: string): boolean
  /** Seconds to stay away, for an address that has not paid and causes more work than its share while payers are served; otherwise 0. */
  restSeconds(address: string): number
  /** Whether a health check of this address passes without a slot. */
  passesProbe(address: string): boolean
  inFlight(): number
  close(): void
}

/** A group of requests with its own maximum: strangers by purpose, known payers, and verified payments. */
type Group = Purpose | 'payer' | 'proven'

const shareOfLimit = 1 / 2
// Callers with paid requests that wait for the chain.
const payersMax = 500
// Reads of one window that always pass: the files of a page. About 4 % of a processor.
const readsMin = 20
const probesPerSecondMax = 10
// A paid request passes the event loop about 20 times. At this utilization each pass takes three times as long as on an idle one.
const busyUtilization = 0.7
const busyLagMs = 8
// Work in units of 0.2 ms, measured by `npm run bench -- attacks`.
const unitsOf: Readonly<Record<Purpose, number>> = { read: 2, quote: 5, proof: 8 }
const refusalUnits = 1
const windowsPerSecond = 1_000 / loadWindowMs

export interface AdmissionOptions {
  readonly now: () => number
  readonly limitAtStart?: number
  readonly adapt?: typeof nextLimit
}

/** Decides in memory, for this instance alone. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { now, limitAtStart = limitMax, adapt = nextLimit } = options
  const inProgress: Record<Group, number> = { read: 0, quote: 0, proof: 0, payer: 0, proven: 0 }
  const earned = createEarnedWork(now)
  const probes = new Map<string, number>()
  const allowances = createAllowances(now)
  const { spendsTooMuch, reward, ...judgements } = judgeAddresses(earned, allowances)
  const load = followLoad()
  let limit = limitAtStart
  let windows = 0
  let reads = 0
  let servesPayers = false
  const isFull = (group: Group) =>
    inProgress[group] >= (group === 'payer' ? payersMax : Math.ceil(limit * shareOfLimit))
  // The places of payers can all be taken while those of strangers are free.
  const groupOf = ({ purpose, address }: AdmissionRequest): Group =>
    purpose !== 'read' && earned.has(address) && !isFull('payer') ? 'payer' : purpose
  const window = setInterval(() => {
    const seen = load.read()
    servesPayers = seen.servesPayers
    limit = adapt(limit, seen)
    allowances.adapt(servesPayers && (seen.utilization > busyUtilization || seen.lagMs > busyLagMs))
    if (++windows % windowsPerSecond === 0) probes.clear()
    reads = 0
  }, loadWindowMs)
  window.unref()
  return {
    refuses(request) {
      load.arrived()
      const group = groupOf(request)
      if (spendsTooMuch(request)) return true
      // A read ends before the next one begins, so while payers are served its share also counts the reads of a window.
      if (group === 'read' && ++reads > Math.max(readsMin, limit * shareOfLimit) && servesPayers) return true
      return isFull(group) || (group !== 'payer' && load.isFlood())
    },
    enter(request) {
      let group = groupOf(request)
      if (isFull(group)) return undefined
      const startedAtMs = now()
      inProgress[group]++
      if (group === 'payer') load.sawPayer()
      return {
        prove() {
          inProgress[group]--
          group = 'proven'
          inProgress[group]++
          load.sawPayer()
        },
        earn: (priceMicroUsd) => reward(request.address, priceMicroUsd),
        leave() {
          if (request.purpose === 'quote') load.quoted(now() - startedAtMs)
          inProgress[group]--
        },
      }
    },
    ...judgements,
    passesProbe(address) {
      const count = (probes.get(address) ?? 0) + 1
      probes.set(address, count)
      return count <= probesPerSecondMax
    },
    inFlight: () => Object.values(inProgress).reduce((sum, each) => sum + each, 0),
    close() {
      clearInterval(window)
      load.close()
    },
  }
}

/** Judges client addresses by what they have paid and by the work that they cause. */
function judgeAddresses(earned: EarnedWork, allowances: Allowances) {
  return {
    reward(address: string, priceMicroUsd: bigint): void {
      allowances.forgive(address)
      earned.add(address, priceMicroUsd)
    },
    turnsAway: (address: string) => !earned.has(address) && allowances.turnsAway(address),
    restSeconds: (address: string) => (earned.has(address) ? 0 : allowances.restSeconds(address)),
    spendsTooMuch({ purpose, address }: AdmissionRequest): boolean {
      if (earned.has(address)) {
        earned.spend(address, unitsOf[purpose])
        return false
      }
      const isTurnedAway = allowances.turnsAway(address)
      allowances.spend(address, isTurnedAway ? refusalUnits : unitsOf[purpose])
      return isTurnedAway
    },
  }
}
