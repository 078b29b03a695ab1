/* Takes the place of uPlot, which draws on a canvas: keeps what each chart is told to draw, for the test that opened the page. */

interface Options {
  readonly series: readonly { readonly label?: string; readonly dash?: readonly number[] }[]
  readonly scales: { readonly x: { readonly range: () => readonly number[] } }
  readonly axes: readonly { readonly incrs?: readonly number[] }[]
}

export interface Drawn {
  readonly options: Options
  readonly data: readonly (readonly number[])[]
}

export default class RecordedPlot {
  static readonly paths = { bars: () => undefined }
  static tzDate(date: Date): Date {
    return date
  }
  readonly root = document.createElement('div')
  constructor(options: Options, data: readonly (readonly number[])[]) {
    this.root.className = 'uplot'
    Object.assign(this.root, { drawn: { options, data } })
  }
}
