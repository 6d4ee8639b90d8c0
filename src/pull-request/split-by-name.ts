interface Named {
  readonly name: string
}

/** What is only in `after`, only in `before`, and in both, in the order of the maps. */
export function splitMaps<Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>) {
  return {
    added: [...after].flatMap(([key, value]) => (before.has(key) ? [] : [value])),
    removed: [...before].flatMap(([key, value]) => (after.has(key) ? [] : [value])),
    both: [...after].flatMap(([key, value]) => {
      const old = before.get(key)
      return old === undefined ? [] : [[old, value] as const]
    }),
  }
}

/** If several have one name, the last one counts. */
export function splitByName<Item extends Named>(before: readonly Item[], after: readonly Item[]) {
  const indexByName = (items: readonly Item[]) => new Map(items.map((item) => [item.name, item]))
  return splitMaps(indexByName(before), indexByName(after))
}
