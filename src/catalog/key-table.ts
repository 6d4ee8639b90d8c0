/** Beyond so many comparisons a key a map takes over: then nobody can choose keys that meet in the table. */
const mostProbes = 8

/** The keys of a large map, by their hashes: a map or set of a million texts takes several times as long to fill. */
export class KeyTable {
  private readonly keys: string[] = []
  private hashes: Int32Array
  /** One more than the place of the key that stands there; at most half of it is taken. */
  private slots: Int32Array
  private probes = 0
  private places: Map<string, number> | undefined

  /** `expected` keys find room without growing. */
  constructor(expected = 60) {
    const size = 1 << (32 - Math.clz32(expected))
    this.hashes = new Int32Array(size)
    this.slots = new Int32Array(2 * size)
  }

  /** How many keys were added before the key, where it is known. One that is new is known from now on, and -1. */
  add(key: string): number {
    if (this.places) return this.addTo(this.places, key)
    const { keys, hashes, slots } = this
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

  private addTo(places: Map<string, number>, key: string): number {
    const place = places.get(key)
    if (place === undefined) places.set(key, places.size)
    return place ?? -1
  }

  private grow(): void {
    const { hashes } = this
    const slots = new Int32Array(this.slots.length * 4)
    for (const [place, hash] of hashes.entries()) {
      let slot = hash & (slots.length - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = place + 1
    }
    this.slots = slots
    this.hashes = new Int32Array(hashes.length * 4)
    this.hashes.set(hashes)
  }
}

function hashOf(key: string): number {
  let hash = key.length
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}
