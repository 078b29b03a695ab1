import { expect, test } from 'vitest'
import { allCells, coreCells, nameOf, possibleCells } from './cells.ts'
import { runCells } from './runCells.ts'
import { openScene } from './scene.ts'

// `all`, or a part of the names of combinations, such as `x402 by ours`.
const chosen = process.env['MATRIX']
const isChosen = (name: string) => chosen === 'all' || name.includes(chosen ?? '')
const cells = chosen === undefined ? coreCells() : possibleCells().filter((cell) => isChosen(nameOf(cell)))
const [run, possible, all] = [cells.length, possibleCells().length, allCells().length]

test(`a payment that is on record is served once and never asked for again: ${run} of ${possible} possible combinations of ${all}`, async () => {
  const scene = await openScene()
  expect(await runCells(scene, cells)).toEqual([])
}, 1_200_000)
