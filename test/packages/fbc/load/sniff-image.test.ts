import { describe, expect, test } from '@jest/globals'
import { sniffImage } from '../../../../packages/fbc/src/load/blob-facts.ts'

const encodeText = (text: string) => new TextEncoder().encode(text)

describe('what a picture is by its bytes', () => {
  test('pictures are known by their first bytes', () => {
    expect(sniffImage(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0))).toBe('image/png')
    expect(sniffImage(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0))).toBe('image/jpeg')
    expect(sniffImage(encodeText('GIF89a'))).toBe('image/gif')
    expect(sniffImage(encodeText('RIFF....WEBPVP8 '))).toBe('image/webp')
    expect(sniffImage(Uint8Array.of(0x1f, 0x8b, 8))).toBe('application/gzip')
  })

  test('an SVG may open with a byte order mark, a declaration, comments, a document type and a prefix', () => {
    expect(sniffImage(encodeText('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toBe('image/svg+xml')
    expect(
      sniffImage(
        encodeText('\ufeff<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC "a" "b">\n<svg:svg>'),
      ),
    ).toBe('image/svg+xml')
  })

  test('a web page is not an image, and text and nothing show nothing', () => {
    expect(sniffImage(encodeText('<!DOCTYPE html><html><svg/></html>'))).toBe('text/html')
    expect(sniffImage(encodeText('hello <svg>'))).toBeUndefined()
    expect(sniffImage(encodeText('<note/>'))).toBeUndefined()
    expect(sniffImage(new Uint8Array())).toBeUndefined()
  })

  test('an endless comment is looked at only so far', () => {
    expect(sniffImage(encodeText(`<!--${'x'.repeat(1_000_000)}--><svg>`))).toBeUndefined()
  })
})
