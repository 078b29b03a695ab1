import type { PageWorld } from './pageWorld.ts'
import type { MissingContent } from './renderer.ts'

/** `heightMax` is in CSS pixels. */
export interface Scroll {
  readonly heightMax: number
  /** True if the capture ends at `heightMax` too, so that unscrolled content below it is not reported as missing. */
  readonly isCutThere: boolean
}

export interface SettlingScroll extends Scroll {
  readonly settle: () => Promise<readonly MissingContent[]>
}

const passesMax = 3
// Longer than one frame, so that the browser notices the elements that became visible.
const scrollPauseMs = 20
const scrollTimeoutMs = 2_000

/** Scrolls through the page, so that lazy content loads. `missing` is undefined if the page had nothing to scroll. */
export async function scrollThrough(world: PageWorld, scroll: SettlingScroll) {
  const area = (await world.run(hasScrollArea)) === true ? [scrollArea] : []
  if ((await world.run(isTall)) !== true) return { missing: undefined, unseen: area }
  const { heightMax, isCutThere, settle } = scroll
  let missing: readonly MissingContent[] = []
  let [scrolled, height] = [0, 0]
  for (let pass = 1; pass <= passesMax; pass++) {
    scrolled = numberOf(await world.run(scrollFrom, scrolled, heightMax, scrollPauseMs, scrollTimeoutMs))
    missing = await settle()
    height = numberOf(await world.run(pageHeight))
    if (height <= scrolled || scrolled >= heightMax) break
  }
  await world.run(scrollHome)
  const isBelowTheCut = isCutThere && scrolled >= heightMax
  const unscrolled = height > scrolled && !isBelowTheCut ? [lazyContent(scrolled)] : []
  const unloaded = (await world.run(hasUnloaded, scrollPauseMs)) === true ? [unloadedContent] : []
  return { missing, unseen: [...area, ...unscrolled, ...unloaded] }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

// A list that draws only its visible rows removes the others later, so some visible texts are noted at each stop.
const scrollFrom = `async (from, heightMax, pauseMs, timeoutMs) => {
  const root = document.scrollingElement ?? document.documentElement
  const end = document.timeline.currentTime + timeoutMs
  const seen = (globalThis.tollbookSeen ??= new Map())
  const note = () => {
    for (const across of [0.02, 0.25, 0.5, 0.75])
      for (const down of [0.2, 0.5, 0.8]) {
        const element = document.elementFromPoint(innerWidth * across, innerHeight * down)
        if (element === null || element.childElementCount > 0 || seen.size >= 500) continue
        const text = element.textContent.trim()
        if (text.length >= 3 && text.length <= 200) seen.set(element, text)
      }
  }
  let y = from
  for (; y < Math.min(root.scrollHeight, heightMax) && document.timeline.currentTime < end; y += innerHeight) {
    scrollTo({ top: y, behavior: 'instant' })
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    note()
  }
  return Math.min(y, root.scrollHeight, heightMax)
}`
const scrollHome = `() => scrollTo({ top: 0, behavior: 'instant' })`
const pageHeight = `() => (document.scrollingElement ?? document.documentElement).scrollHeight`
const isTall = `() => (document.scrollingElement ?? document.documentElement).scrollHeight > innerHeight`

// A third of the noted texts must be gone: fewer can change because of a clock, a slide or a relative time. Texts are
// compared instead of elements, because a redrawn list has the same texts in new elements.
const hasUnloaded = `async (pauseMs) => {
  await new Promise((resolve) => setTimeout(resolve, pauseMs))
  const seen = globalThis.tollbookSeen ?? new Map()
  const whole = document.documentElement.textContent
  const lost = [...seen].filter(([element, text]) => !element.isConnected && !whole.includes(text)).length
  return lost >= 3 && lost * 3 >= seen.size
}`

// A scroll area smaller than half the window is not the main content.
const hasScrollArea = `() => {
  for (let element = document.elementFromPoint(innerWidth / 2, innerHeight / 2); element; element = element.parentElement ?? element.getRootNode().host) {
    if (element === document.documentElement) return false
    const isOfWindow = element === document.body && getComputedStyle(document.documentElement).overflowY === 'visible'
    if (isOfWindow || !/auto|scroll/.test(getComputedStyle(element).overflowY)) continue
    const isLarge = element.clientHeight * 2 >= innerHeight && element.clientWidth * 2 >= innerWidth
    if (isLarge && element.scrollHeight > element.clientHeight + 50) return true
  }
  return false
}`

const scrollArea: MissingContent = {
  reason: 'scroll_area',
  detail: 'the main part of the page scrolls by itself, and only its visible part was captured',
}
const unloadedContent: MissingContent = {
  reason: 'unloaded_content',
  detail: 'the page removed content again that it had shown while it was scrolled',
}
const lazyContent = (scrolled: number): MissingContent => ({
  reason: 'lazy_content',
  detail: `the page was scrolled to ${scrolled} pixels and has more below, which may not have been loaded`,
})
