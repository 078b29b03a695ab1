import { type CheckpointNote, isSignedBy, type VerifierKey, verifierKeyOf } from './checkpointNote.ts'
import type { Findings } from './findings.ts'
import type { SettingPeriod, SettingPeriods } from './settingPeriods.ts'

/** A checkpoint, and when the last event that it covers was recorded. */
export interface SignedCheckpoint {
  readonly note: CheckpointNote
  readonly size: number
  readonly recordedAtMs: number
  readonly source: string
}

export interface SignatureFigures {
  verified: number
  /** Signed by a key of the ledger, but the auditor has given no key to begin with. */
  unverified: number
}

export interface CheckpointKeysDeps {
  readonly findings: Findings
  readonly periods: SettingPeriods
  /** The auditor's own. Empty: no key of the ledger can be trusted. */
  readonly given: readonly VerifierKey[]
}

// A key may sign checkpoints of trees that do not have its own event yet. Beyond this many they are judged at once.
const deferredMax = 100_000

/** Checkpoints that one recorded key has signed. */
interface SignedByKey {
  count: number
  largest: SignedCheckpoint
}

/**
 * Keys that may sign checkpoints: those that the auditor gave, and every key that the ledger has on record and a trusted
 * key vouches for, by signing a tree that has its event. A key signs nothing that was recorded after the end of its period.
 */
export class CheckpointKeys {
  readonly #deps: CheckpointKeysDeps
  readonly #signed = new Map<number, SignedByKey>()
  readonly #keys = new Map<string, VerifierKey>()
  #deferred: SignedCheckpoint[] = []
  #verified = 0

  constructor(deps: CheckpointKeysDeps) {
    this.#deps = deps
  }

  note(checkpoint: SignedCheckpoint): void {
    if (this.#assign(checkpoint)) return
    if (this.#deferred.length < deferredMax) this.#deferred.push(checkpoint)
    else this.#blame(checkpoint, 'is not signed by the key of the ledger')
  }

  /** The ledger ends here. */
  finish(): SignatureFigures {
    const origin = this.#deps.periods.of('origin')[0]?.text
    let unverified = 0
    for (const checkpoint of this.#deferred.splice(0)) {
      if (this.#assign(checkpoint)) continue
      const isUnknown = this.#deps.given.length === 0 && this.#recorded().length === 0
      if (isUnknown) unverified++
      else this.#blame(checkpoint, 'is not signed by the key of the ledger')
    }
    const trusted = this.#trusted()
    for (const period of this.#recorded()) {
      const signed = this.#signed.get(period.number)
      if (signed === undefined) continue
      if (signed.largest.recordedAtMs >= period.untilMs)
        this.#blame(signed.largest, 'is signed by a key whose time was over')
      if (origin !== undefined && signed.largest.note.origin !== origin) {
        this.#blame(signed.largest, `is of the log ${signed.largest.note.origin}, and the ledger is ${origin}`)
      }
      if (trusted.has(period.number)) this.#verified += signed.count
      else if (this.#deps.given.length === 0) unverified += signed.count
      else
        this.#blame(signed.largest, `is signed by key ${period.number} of the ledger, which no trusted key vouches for`)
    }
    return { verified: this.#verified, unverified }
  }

  /** Numbers of the keys that the auditor gave, and of those that a trusted key vouches for. */
  #trusted(): ReadonlySet<number> {
    const trusted = new Set<number>()
    const recorded = this.#recorded()
    const isVouchedFor = ({ position }: SettingPeriod): boolean =>
      [...trusted].some((number) => (this.#signed.get(number)?.largest.size ?? 0) >= position)
    // Each round trusts one more key, or is the last.
    for (const _ of recorded) {
      const next = recorded.find((period) => {
        return !trusted.has(period.number) && (this.#isGiven(period) || isVouchedFor(period))
      })
      if (next === undefined) break
      trusted.add(next.number)
    }
    return trusted
  }

  /** False while no known key has signed it. */
  #assign(checkpoint: SignedCheckpoint): boolean {
    const { note, size } = checkpoint
    const period = this.#recorded().findLast((recorded) => isSignedBy(note, [this.#keyOf(note.origin, recorded)]))
    if (period !== undefined) {
      const known = this.#signed.get(period.number)
      const largest = known !== undefined && known.largest.size >= size ? known.largest : checkpoint
      this.#signed.set(period.number, { count: (known?.count ?? 0) + 1, largest })
      return true
    }
    if (!isSignedBy(note, this.#deps.given)) return false
    this.#verified++
    return true
  }

  #recorded(): readonly SettingPeriod[] {
    return this.#deps.periods.of('receipt-key')
  }

  #keyOf(origin: string, { text }: SettingPeriod): VerifierKey {
    const name = `${origin} ${text}`
    const known = this.#keys.get(name) ?? verifierKeyOf(origin, Buffer.from(text, 'base64url'))
    this.#keys.set(name, known)
    return known
  }

  #isGiven({ text }: SettingPeriod): boolean {
    return this.#deps.given.some(({ name, keyId }) => {
      return verifierKeyOf(name, Buffer.from(text, 'base64url')).keyId.equals(keyId)
    })
  }

  #blame({ size, source }: SignedCheckpoint, message: string): void {
    const subject = `checkpoint ${size}`
    this.#deps.findings.add('checkpoint_signature_wrong', { position: size, subject, message: `${source} ${message}` })
  }
}
