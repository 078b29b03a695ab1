import { Fault } from '@tollbook/core/fault'
import type { BuiltinChoice } from '../../product/builtinName.ts'

/** The built-in products for sale, and the function that opens their endpoints. */
export type Goods = NonNullable<Awaited<ReturnType<typeof loadGoods>>>

export type BuiltinProducts = Goods['products']

/**
 * Loads the built-in products, if any is sold. Undefined: none is sold. No other import of the service loads their
 * code. A service that sells only configured products therefore needs none of their packages.
 */
export async function loadGoods(choices: readonly BuiltinChoice[]) {
  if (choices.length === 0) return undefined
  try {
    const { chooseGoods } = await import('../goods/goods.ts')
    return await chooseGoods(choices)
  } catch (error) {
    if (!(error instanceof Error) || !/^Cannot find (package|module) /.test(error.message)) throw error
    throw new Fault(
      `the built-in products (${choices.map(({ name }) => name).join(', ')}) need packages that are not installed: ${error.message}. Install @tollbook/goods, or list no built-in product in the products file`,
      { cause: error, retryable: false },
    )
  }
}
