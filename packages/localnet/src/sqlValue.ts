import type { SQLOutputValue } from 'node:sqlite'
import { assert } from '@tollbook/core/assert'

export type SqlRow = Readonly<Record<string, SQLOutputValue>>

export function blobOf(value: SQLOutputValue | undefined): Uint8Array {
  assert(value instanceof Uint8Array, 'the column has bytes')
  return value
}

export function integerOf(value: SQLOutputValue | undefined): number {
  assert(typeof value === 'number', 'the column has a number')
  return value
}
