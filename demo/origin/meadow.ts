import { createRandom } from "../random.ts";

const PLANTS = ["Foxglove", "Yarrow", "Oxeye Daisy", "Cornflower", "Meadow Sage", "Field Poppy", "Ragged Robin"];
const SOILS = ["Chalk", "Clay", "Loam", "Sand"];
const COLOURS = ["#e56b6f", "#f6bd60", "#84a59d", "#6d6875", "#577590", "#f28482", "#b5838d"];

/**
 * The document of one kind of seed. Its image URI holds `{id}` too, in which clients put the id as ERC-1155 says, and
 * its properties are the object map of that standard's schema.
 */
export function meadowDocument(id: bigint, { originUrl }: { originUrl: string }): object {
  const { plant, soil, height, petals } = plantOf(id);
  return {
    name: `${plant} Seeds`,
    description: `A packet of ${plant.toLowerCase()} seeds for ${soil.toLowerCase()}. Sow in April.`,
    decimals: 0,
    image: `${originUrl}/meadow/{id}.svg`,
    properties: {
      soil,
      height: { name: "Height", value: height, display_value: `${height} cm` },
      petals: { name: "Petals", value: petals },
      perennial: id % 2n === 0n,
    },
  };
}

/** A flower. */
export function meadowSvg(id: bigint): string {
  const { colour, petals, plant } = plantOf(id);
  const leaves = Array.from({ length: petals }, (_, i) => {
    const turn = (360 / petals) * i;
    return `<ellipse cx="100" cy="52" rx="${Math.round(150 / petals)}" ry="34" fill="${colour}" transform="rotate(${turn} 100 85)"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><title>${plant}</title><rect width="200" height="200" fill="#edf6e5"/><path d="M100 85q-8 60 4 115" stroke="#588157" stroke-width="5" fill="none"/>${leaves.join("")}<circle cx="100" cy="85" r="14" fill="#ffb703"/></svg>`;
}

function plantOf(id: bigint) {
  const random = createRandom(Number(BigInt.asUintN(32, id ^ (id >> 40n))));
  return {
    // The first ids in order, so that neighbours differ.
    plant: PLANTS[Number(id % BigInt(PLANTS.length))] ?? "Meadow",
    colour: COLOURS[Number(id % BigInt(COLOURS.length))] ?? "#e56b6f",
    soil: random.pick(SOILS),
    height: 15 + random.below(140),
    petals: 5 + random.below(8),
  };
}
