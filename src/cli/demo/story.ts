import { compareFigures, readFigures } from './compareFigures.ts'
import type { DemoDeps } from './demoDeps.ts'
import { askPrice, showPaidRequest } from './paidRequest.ts'
import { showProducts } from './products.ts'

/** A paid request from the 402 to the receipt, the other products, and the ledger. Throws at the first mismatch. */
export async function showDemo(deps: DemoDeps): Promise<void> {
  const { paymentTokenAccount } = await askPrice(deps)
  const before = await readFigures(deps, paymentTokenAccount)
  const spent = [await showPaidRequest(deps), ...(await showProducts(deps))]
  const after = await readFigures(deps, paymentTokenAccount)
  compareFigures(deps, { before, after, spent })
}
