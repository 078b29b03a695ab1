import { z } from 'zod'
import { productsFileShape } from './productsFile.ts'

/** Returns the JSON Schema of the products file, with which editors complete and check it. */
export function productsFileSchema(): object {
  return {
    title: 'Products of Tollbook',
    ...z.toJSONSchema(productsFileShape, { io: 'input', unrepresentable: 'any' }),
  }
}
