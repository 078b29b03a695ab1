import { behaviourPages } from './behaviourPages.ts'
import type { CorpusPage } from './corpusPage.ts'
import { hostilePages } from './hostilePages.ts'
import { layoutPages } from './layoutPages.ts'
import { loadingPages } from './loadingPages.ts'
import { scrollingPages } from './scrollingPages.ts'

export const corpus: readonly CorpusPage[] = [
  ...loadingPages,
  ...scrollingPages,
  ...layoutPages,
  ...behaviourPages,
  // They have no golden picture: what counts is that they end.
  ...hostilePages.map((page) => ({ ...page, moves: true as const, isHostile: true as const })),
]
