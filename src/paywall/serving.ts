import type { PresentedReference } from '../payment/paymentReference.ts'

/**
 * Payments that requests of this process are serving now. This is only a hint, because another process may serve the
 * same payment.
 */
export class Serving {
  readonly #requests = new Map<PresentedReference, number>()

  has(reference: PresentedReference): boolean {
    return this.#requests.has(reference)
  }

  /** Marks the payment as being served until the result is disposed. */
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
