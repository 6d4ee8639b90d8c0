import { describe, expect, test } from '@jest/globals'
import { sniffMediaType } from '../../../../packages/fbc/src/load/parse-blobs.ts'

const encodeText = (text: string) => new TextEncoder().encode(text)

describe('the media type of an icon', () => {
  test('is detected by its first bytes', () => {
    expect(sniffMediaType(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0))).toBe('image/png')
    expect(sniffMediaType(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0))).toBe('image/jpeg')
    expect(sniffMediaType(encodeText('GIF89a'))).toBe('image/gif')
    expect(sniffMediaType(encodeText('RIFF....WEBPVP8 '))).toBe('image/webp')
    expect(sniffMediaType(Uint8Array.of(0x1f, 0x8b, 8))).toBe('application/gzip')
  })

  test('is SVG after a byte order mark, a declaration, comments, a document type, and a namespace prefix', () => {
    expect(sniffMediaType(encodeText('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toBe('image/svg+xml')
    expect(
      sniffMediaType(
        encodeText('\ufeff<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC "a" "b">\n<svg:svg>'),
      ),
    ).toBe('image/svg+xml')
  })

  test('is text/html for a web page, and undefined for text and for no bytes', () => {
    expect(sniffMediaType(encodeText('<!DOCTYPE html><html><svg/></html>'))).toBe('text/html')
    expect(sniffMediaType(encodeText('hello <svg>'))).toBeUndefined()
    expect(sniffMediaType(encodeText('<note/>'))).toBeUndefined()
    expect(sniffMediaType(new Uint8Array())).toBeUndefined()
  })

  test('is undefined after a comment that is longer than the searched part', () => {
    expect(sniffMediaType(encodeText(`<!--${'x'.repeat(1_000_000)}--><svg>`))).toBeUndefined()
  })
})
