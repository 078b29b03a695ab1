import { assert } from '@tollbook/core/assert'

export function bytesOf(value: unknown): Uint8Array {
  assert(value instanceof Uint8Array, 'the parameter has bytes')
  return value
}

export function timeOf(value: unknown): number {
  assert(value instanceof Date, 'the parameter is a time')
  return value.getTime()
}
