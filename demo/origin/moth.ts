import { createRandom } from "../random.ts";
import { type Colour, encodeGif, encodePng, type Picture } from "./picture.ts";

const SIZE = 160;
const GIF_SIZE = 64;
const WAV_RATE = 8000;

const FAMILIES = ["Hawk-moth", "Tiger", "Emerald", "Footman", "Hook-tip", "Plume", "Underwing", "Silk moth"];
const HABITATS = ["Hedgerow", "Salt marsh", "Birch wood", "Garden wall", "Street lamp", "Heath"];
const FIRST_NAMES = ["Pale", "Ghost", "Copper", "Lesser", "Winter", "Painted", "Clouded", "Lunar", "Ruby", "Ashen"];
const NIGHTS: Colour[] = [
  [24, 26, 48],
  [38, 24, 46],
  [18, 40, 44],
  [44, 38, 30],
];

/**
 * The document of one moth, as a project that grew over the years writes them: the image is absolute here and relative
 * there, and some have an animation, a sound or a page.
 */
export function mothDocument(id: number, { originUrl }: { originUrl: string }): object {
  const random = createRandom(id);
  const family = random.pick(FAMILIES);
  const name = `${random.pick(FIRST_NAMES)} ${family}`;
  const animation = animationOf(id);
  return {
    name: `${name} #${id}`,
    description: `Plate ${id} of the atlas. Seen once, at dusk, and drawn from memory.`,
    image: id % 3 === 0 ? `${id}.png` : `${originUrl}/moths/${id}.png`,
    ...(animation && { animation_url: `${originUrl}/moths/${id}.${animation}` }),
    external_url: `${originUrl}/moths/${id}.html`,
    background_color: "F4F1DE",
    attributes: [
      { trait_type: "Family", value: family },
      { trait_type: "Habitat", value: random.pick(HABITATS) },
      { trait_type: "Wingspan", value: 12 + random.below(70), display_type: "number", max_value: 82 },
      { trait_type: "Wear", value: random.below(100) / 100, display_type: "boost_number" },
      { trait_type: "First seen", value: 1_546_300_800 + random.below(150_000_000), display_type: "date" },
      { trait_type: "Eyespots", value: random.chance(40) },
    ],
  };
}

/** The document of the whole collection. Source: ERC-7572. */
export function mothCollection({ originUrl }: { originUrl: string }): object {
  return {
    name: "Moth Atlas",
    symbol: "MOTH",
    description: "Every moth that came to the lamp, one plate each.",
    image: `${originUrl}/moths/1.png`,
    external_link: originUrl,
  };
}

/** A moth with its wings spread. */
export function mothPng(id: number): Buffer {
  return encodePng(drawMoth(id, { size: SIZE, spread: 1 }));
}

/** Four frames of beating wings. */
export function mothGif(id: number): Buffer {
  const frames = [1, 0.75, 0.45, 0.75].map((spread) => drawMoth(id, { size: GIF_SIZE, spread }));
  return encodeGif(frames, { frameMs: 120 });
}

/** Half a second of wing beat, 8-bit mono. Source: the RIFF WAVE format. */
export function mothWav(id: number): Buffer {
  const pitch = 60 + createRandom(id).below(120);
  const samples = Buffer.alloc(WAV_RATE / 2);
  for (const i of samples.keys()) {
    const fade = 1 - i / samples.length;
    samples[i] = 128 + Math.round(90 * fade * Math.sin((2 * Math.PI * pitch * i) / WAV_RATE));
  }
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(WAV_RATE, 24);
  header.writeUInt32LE(WAV_RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

/** A page that turns its moth round with the pointer. */
export function mothHtml(id: number, { originUrl }: { originUrl: string }): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moth ${id}</title>
<style>body{margin:0;display:grid;place-items:center;height:100vh;background:#181a30}img{width:60vmin;image-rendering:pixelated}</style>
<img src="${originUrl}/moths/${id}.png" alt="Moth ${id}">
<script>
  const moth = document.querySelector("img");
  addEventListener("pointermove", (event) => { moth.style.rotate = event.clientX / 4 + "deg"; });
</script>
</html>
`;
}

function animationOf(id: number): "gif" | "wav" | "html" | undefined {
  if (id % 4 === 1) return "gif";
  if (id % 10 === 2) return "wav";
  if (id % 10 === 8) return "html";
  return undefined;
}

/** Two pairs of wings, a body and feelers. `spread` is how far the wings are open, 1 for wide. */
function drawMoth(id: number, { size, spread }: { size: number; spread: number }): Picture {
  const random = createRandom(id * 7919);
  const tint = (): Colour => [70 + random.below(180), 60 + random.below(160), 50 + random.below(150)];
  const palette: Colour[] = [random.pick(NIGHTS), tint(), tint(), tint(), [250, 240, 200], [40, 28, 24]];
  const bands = 3 + random.below(6);
  const slant = (random.below(60) - 10) / 100;
  const spot = { u: 0.4 + random.below(20) / 100, v: 0.32 + random.below(10) / 100 };

  const pixels = new Uint8Array(size * size);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      // 0 to 1 down, and outwards from the middle: both sides are alike.
      const v = (y + 0.5) / size;
      const u = Math.abs((x + 0.5) / size - 0.5) * 2;
      pixels[y * size + x] = colourAt({ u, v, open: u / spread });
    }
  }
  return { size, pixels, palette };

  function colourAt({ u, v, open }: { u: number; v: number; open: number }): number {
    if (distance((u - 0.01) / 0.09, (v - 0.52) / 0.24) < 1) return 5;
    if (v > 0.1 && v < 0.32 && Math.abs(u - 0.04 - (0.32 - v) ** 1.5 * 1.8) < 0.02) return 5;
    const upper = distance((open - 0.46) / 0.46, (v - 0.4 + (open - 0.4) * slant) / 0.2);
    const lower = distance((open - 0.32) / 0.34, (v - 0.68 - (open - 0.3) * slant) / 0.19);
    const wing = Math.min(upper, lower);
    if (wing > 1) return 0;
    if (wing > 0.9) return 3;
    const eye = distance((open - spot.u) / 0.09, (v - spot.v) / 0.055);
    if (eye < 0.5) return 5;
    if (eye < 1) return 4;
    return Math.floor(wing * bands) % 2 === 0 ? 1 : 2;
  }
}

/** A picture takes four times as long with `Math.hypot`. */
function distance(x: number, y: number): number {
  return Math.sqrt(x * x + y * y);
}
