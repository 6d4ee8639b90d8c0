/** Fewer keys are compared one by one. A power of two. */
const maxLinearSearchKeys = 16

const emptyInt32Array = new Int32Array(0)

/** After more comparisons per key a Map takes over, so that colliding keys cannot slow the table down. */
const maxProbesPerKey = 8

/** A hash table for the keys of a large map. Filling a Map or Set with a million strings is several times slower. */
export class StringKeyIndex {
  private readonly keys: string[] = []
  private hashes: Int32Array = emptyInt32Array
  /** One plus the index of the key; at most half of the slots are used. */
  private slots: Int32Array = emptyInt32Array
  private probes = 0
  private indexByKey: Map<string, number> | undefined

  /** Returns the index of a known key, or adds a new one and returns -1. */
  add(key: string): number {
    if (this.indexByKey) return this.addTo(this.indexByKey, key)
    const { keys, hashes, slots } = this
    if (slots === emptyInt32Array) return this.addLinearly(key)
    const hash = hashKey(key)
    let slot = hash & (slots.length - 1)
    for (let other = slots[slot] as number; other !== 0; other = slots[slot] as number) {
      if (hashes[other - 1] === hash && keys[other - 1] === key) return other - 1
      this.probes++
      slot = (slot + 1) & (slots.length - 1)
    }
    if (this.probes > maxProbesPerKey * (keys.length + slots.length)) {
      this.indexByKey = new Map(keys.map((known, index) => [known, index]))
      return this.addTo(this.indexByKey, key)
    }
    hashes[keys.length] = hash
    keys.push(key)
    slots[slot] = keys.length
    if (keys.length === hashes.length) this.grow()
    return -1
  }

  private addLinearly(key: string): number {
    const { keys } = this
    const index = keys.indexOf(key)
    if (index < 0 && keys.push(key) > maxLinearSearchKeys) this.buildIndex()
    return index
  }

  private addTo(indexes: Map<string, number>, key: string): number {
    const index = indexes.get(key)
    if (index === undefined) indexes.set(key, indexes.size)
    return index ?? -1
  }

  private buildIndex(): void {
    this.hashes = new Int32Array(4 * maxLinearSearchKeys)
    this.hashes.set(this.keys.map(hashKey))
    this.slots = this.buildSlots(8 * maxLinearSearchKeys)
  }

  private grow(): void {
    const { hashes } = this
    this.slots = this.buildSlots(hashes.length * 8)
    this.hashes = new Int32Array(hashes.length * 4)
    this.hashes.set(hashes)
  }

  private buildSlots(count: number): Int32Array {
    const slots = new Int32Array(count)
    for (let index = 0; index < this.keys.length; index++) {
      let slot = (this.hashes[index] as number) & (count - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (count - 1)
      slots[slot] = index + 1
    }
    return slots
  }
}

function hashKey(key: string): number {
  let hash = key.length
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
