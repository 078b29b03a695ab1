/** Names of the built-in products, in the order of the price list. A products file lists those that are sold. */
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
