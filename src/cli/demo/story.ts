import { compareBooks, readBooks } from './books.ts'
import type { DemoDeps } from './demoDeps.ts'
import { askPrice, tellPaidRequest } from './paidRequest.ts'
import { tellProducts } from './products.ts'

/** A paid request from the 402 to the receipt, the other products, and the books. Throws at the first thing that is wrong. */
export async function tellDemo(deps: DemoDeps): Promise<void> {
  const { paymentTokenAccount } = await askPrice(deps)
  const before = await readBooks(deps, paymentTokenAccount)
  const spent = [await tellPaidRequest(deps), ...(await tellProducts(deps))]
  const after = await readBooks(deps, paymentTokenAccount)
  compareBooks(deps, { before, after, spent })
}
