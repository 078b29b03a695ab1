import { claimOf, sampleSettlement, sampleSignature, fulfilmentOf } from '../test/store/samplePayment.ts'
import { paymentItem, appendArguments } from '../src/store/appendBatch.ts'
import { signatureBytes } from '../src/payment/signature.ts'
import { encodeEvent } from '../src/payment/eventCodec.ts'
import { canonicalJson } from '../src/primitives/canonicalJson.ts'
import { evolve, unknownPayment } from '../src/payment/payment.ts'
function t(name: string, n: number, f: () => unknown) { for (let i = 0; i < n / 4; i++) f(); let best = 1e9; for (let r = 0; r < 5; r++) { const a = performance.now(); for (let i = 0; i < n; i++) f(); best = Math.min(best, (performance.now() - a) / n * 1000) } console.log(name.padEnd(40), best.toFixed(2), 'us') }
const s = sampleSettlement(); const c = claimOf(s).change; const sig = sampleSignature()
t('sampleSettlement', 2000, () => sampleSettlement())
t('claimOf', 5000, () => claimOf(s))
t('paymentItem', 2000, () => paymentItem(c))
t('encodeEvent verified', 5000, () => encodeEvent(c.events[0]!, { stream: sig, version: 1, effectiveAtMs: 0 }))
t('encodeEvent burned', 5000, () => encodeEvent(c.events[1]!, { stream: sig, version: 1, effectiveAtMs: 0 }))
t('encodeEvent claimed', 5000, () => encodeEvent(c.events[2]!, { stream: sig, version: 1, effectiveAtMs: 0 }))
const j = JSON.parse(encodeEvent(c.events[0]!, { stream: sig, version: 1, effectiveAtMs: 0 }))
t('canonicalJson verified', 5000, () => canonicalJson(j))
function own(v: any): string { if (v === null || typeof v !== 'object') return JSON.stringify(v); if (Array.isArray(v)) return `[${v.map(own).join(',')}]`; return `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${own(v[k])}`).join(',')}}` }
t('own canonical', 5000, () => own(j))
function sorted(v: any): any { if (v === null || typeof v !== 'object') return v; if (Array.isArray(v)) return v.map(sorted); const o: any = {}; for (const k of Object.keys(v).sort()) o[k] = sorted(v[k]); return o }
t('sorted+stringify', 5000, () => JSON.stringify(sorted(j)))
t('signatureBytes', 5000, () => signatureBytes(sig))
t('evolve x3', 5000, () => c.events.reduce((st, e) => evolve(st, e, 0), unknownPayment as any))
const items = Array.from({ length: 32 }, () => paymentItem(claimOf(sampleSettlement()).change))
t('appendArguments 32', 200, () => appendArguments(items))
const { batch } = appendArguments(items); const parsed = JSON.parse(batch)
t('JSON.stringify batch 32', 200, () => JSON.stringify(parsed))
