/** Keeps nothing: a page makes too few calls for it, and loads sooner without. */
export function keepShapes(): void {}
