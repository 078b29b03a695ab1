import type { PageWorld } from './pageWorld.ts'

/*
 * A banner that is fixed to the window would cover text in a full-page picture, and repeat on each sheet of a document.
 * HTML and Markdown of the caller stay unchanged, because there a fixed footer on each sheet is intended.
 */

const elementsMax = 50_000

export async function placeBanners(world: PageWorld, isPrinted: boolean): Promise<void> {
  await world.run(placeFixed, isPrinted, elementsMax)
}

const placeFixed = `(isPrinted, elementsMax) => {
  let left = elementsMax
  const place = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (left-- <= 0) return
      if (element.shadowRoot !== null) place(element.shadowRoot)
      if (element.style === undefined || getComputedStyle(element).position !== 'fixed') continue
      const { top, bottom, width, height } = element.getBoundingClientRect()
      if (width === 0 || height === 0) continue
      const isAtBottom = top > 0 && top < innerHeight && bottom >= innerHeight - 1 && width * 2 >= innerWidth
      if (isAtBottom) element.style.setProperty('position', 'static', 'important')
      else if (isPrinted) element.style.setProperty('position', 'absolute', 'important')
    }
  }
  place(document)
}`
