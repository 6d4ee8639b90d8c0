/**
 * Prevents prototype pollution through keys such as `__proto__` in untrusted input. Seals instead of freezing, because
 * libraries assign properties that shadow those of shared prototypes. The process ends with its parent.
 */
export function preventPrototypePollution(): void {
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
