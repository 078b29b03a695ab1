import { describe, expect, test } from 'vitest'
import { readTablePages } from '../../scripts/productTables.ts'

describe('the tables of the products', () => {
  test('in the documentation are those of the definitions (node scripts/productTables.ts writes them)', async () => {
    const pages = await readTablePages()
    expect(pages).toHaveLength(2)
    for (const { name, written, generated } of pages) {
      expect(written, name).toBe(generated)
      expect(written).toContain('| `GET /api/data/crypto` |')
    }
  })
})
