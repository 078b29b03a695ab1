import type { PresentedReference } from '../payment/paymentReference.ts'

/** Payments that requests of this process are at work on. Only a hint: another process may be at work on any payment. */
export class Serving {
  readonly #requests = new Map<PresentedReference, number>()

  has(reference: PresentedReference): boolean {
    return this.#requests.has(reference)
  }

  /** Until it is disposed of. */
  enter(reference: PresentedReference): Disposable {
    this.#requests.set(reference, (this.#requests.get(reference) ?? 0) + 1)
    return { [Symbol.dispose]: () => this.#leave(reference) }
  }

  #leave(reference: PresentedReference): void {
    const left = (this.#requests.get(reference) ?? 0) - 1
    if (left > 0) this.#requests.set(reference, left)
    else this.#requests.delete(reference)
  }
}
