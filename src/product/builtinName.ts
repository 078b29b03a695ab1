/** Names of the built-in products, in the order of the price list. A products file lists the products that are sold. */
export const builtinNames = [
  'crypto',
  'weather',
  'stock',
  'news',
  'qrcode',
  'screenshot',
  'pdf',
  'chat',
  'chat-completions',
] as const

export type BuiltinName = (typeof builtinNames)[number]

/** An entry of `builtin` in a products file. */
export interface BuiltinChoice {
  readonly name: BuiltinName
  /** The operator's price, in millionths of a US dollar. Undefined: use the price in the product's definition. */
  readonly priceMicroUsd?: bigint | undefined
  /** True if the product is not sold now. Captures that were sold before stay available. */
  readonly isOff: boolean
}
