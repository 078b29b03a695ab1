import { Fault } from '@tollbook/core/fault'
import type { BuiltinChoice } from '../../product/builtinName.ts'

export type Goods = NonNullable<Awaited<ReturnType<typeof loadGoods>>>

export type BuiltinProducts = Goods['products']

/**
 * Loads the built-in products. Undefined if none is sold. No other import of the service loads them, so a service
 * without them needs none of their packages.
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
