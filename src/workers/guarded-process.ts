// What a process does that reads what others wrote, before it takes an order.

/**
 * A key such as `__proto__` that is taken for a place to write to writes nothing that all objects then have. They are
 * sealed, not frozen: libraries give objects of their own what shared ones have, by assignment. The process ends with the
 * one that gives it orders.
 */
export function guardProcess(): void {
  const shared: readonly { readonly prototype: object }[] = [
    Object,
    Array,
    Function,
    String,
    Number,
    Map,
    Set,
  ]
  for (const { prototype } of shared) Object.seal(prototype)
  process.on('disconnect', () => process.exit())
}
