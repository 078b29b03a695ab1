import { closingType, type SignedClosing } from '@tollbook/core/closingStatement'
import type { SignJws } from '@tollbook/core/compactJws'
import type { UnsignedClosing } from './readClosing.ts'

export function signClosing(signJws: SignJws, { statement, checkpoint }: UnsignedClosing): SignedClosing {
  return { statement, checkpoint, jws: signJws({ ...statement }, { typ: closingType }) }
}
