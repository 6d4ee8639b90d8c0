/** Fewer keys are compared one by one. A power of two. */
const few = 16

const none = new Int32Array(0)

/** After more comparisons per key a Map takes over, so that colliding keys cannot slow the table down. */
const mostProbes = 8

/** A hash table for the keys of a large map. Filling a Map or Set with a million texts takes several times as long. */
export class KeyTable {
  private readonly keys: string[] = []
  private hashes: Int32Array = none
  /** One plus the index of the key; at most half of the slots are used. */
  private slots: Int32Array = none
  private probes = 0
  private places: Map<string, number> | undefined

  /** Returns the index of a known key, or adds a new one and returns -1. */
  add(key: string): number {
    if (this.places) return this.addTo(this.places, key)
    const { keys, hashes, slots } = this
    if (slots === none) return this.addToFew(key)
    const hash = hashOf(key)
    let slot = hash & (slots.length - 1)
    for (let other = slots[slot] as number; other !== 0; other = slots[slot] as number) {
      if (hashes[other - 1] === hash && keys[other - 1] === key) return other - 1
      this.probes++
      slot = (slot + 1) & (slots.length - 1)
    }
    if (this.probes > mostProbes * (keys.length + slots.length)) {
      this.places = new Map(keys.map((known, place) => [known, place]))
      return this.addTo(this.places, key)
    }
    hashes[keys.length] = hash
    keys.push(key)
    slots[slot] = keys.length
    if (keys.length === hashes.length) this.grow()
    return -1
  }

  private addToFew(key: string): number {
    const { keys } = this
    const place = keys.indexOf(key)
    if (place < 0 && keys.push(key) > few) this.index()
    return place
  }

  private addTo(places: Map<string, number>, key: string): number {
    const place = places.get(key)
    if (place === undefined) places.set(key, places.size)
    return place ?? -1
  }

  private index(): void {
    this.hashes = new Int32Array(4 * few)
    this.hashes.set(this.keys.map(hashOf))
    this.slots = this.slotsOf(8 * few)
  }

  private grow(): void {
    const { hashes } = this
    this.slots = this.slotsOf(hashes.length * 8)
    this.hashes = new Int32Array(hashes.length * 4)
    this.hashes.set(hashes)
  }

  private slotsOf(count: number): Int32Array {
    const slots = new Int32Array(count)
    for (let place = 0; place < this.keys.length; place++) {
      let slot = (this.hashes[place] as number) & (count - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (count - 1)
      slots[slot] = place + 1
    }
    return slots
  }
}

function hashOf(key: string): number {
  let hash = key.length
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
