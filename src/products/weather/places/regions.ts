export interface Region {
  readonly countryCode: string
  readonly code: string
  /** Names of the region. Answers use the first name. Callers may use any of them. */
  readonly names: readonly string[]
}

/*
 * Regions of the countries where callers write "City, Region". The format is the GeoNames code, the name, and other
 * names after slashes. Codes of letters (US, GB) are also accepted as names.
 */
const table: Readonly<Record<string, string>> = {
  US: `AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware,
    DC District of Columbia/D.C., FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas,
    KY Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi,
    MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York/New York State,
    NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina,
    SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington/Washington State,
    WV West Virginia, WI Wisconsin, WY Wyoming`,
  GB: 'ENG England, SCT Scotland, WLS Wales/Cymru, NIR Northern Ireland',
  CA: `01 Alberta/AB, 02 British Columbia/BC, 03 Manitoba/MB, 04 New Brunswick/NB, 05 Newfoundland and Labrador/NL/Newfoundland,
    07 Nova Scotia/NS, 08 Ontario/ON, 09 Prince Edward Island/PE/PEI, 10 Quebec/QC, 11 Saskatchewan/SK, 12 Yukon/YT,
    13 Northwest Territories/NT, 14 Nunavut/NU`,
  AU: `01 Australian Capital Territory/ACT, 02 New South Wales/NSW, 03 Northern Territory/NT, 04 Queensland/QLD,
    05 South Australia/SA, 06 Tasmania/TAS, 07 Victoria/VIC, 08 Western Australia/WA`,
  DE: `01 Baden-Württemberg, 02 Bavaria/Bayern, 03 Bremen, 04 Hamburg, 05 Hesse/Hessen, 06 Lower Saxony/Niedersachsen,
    07 North Rhine-Westphalia/Nordrhein-Westfalen/NRW, 08 Rhineland-Palatinate/Rheinland-Pfalz, 09 Saarland,
    10 Schleswig-Holstein, 11 Brandenburg, 12 Mecklenburg-Western Pomerania/Mecklenburg-Vorpommern, 13 Saxony/Sachsen,
    14 Saxony-Anhalt/Sachsen-Anhalt, 15 Thuringia/Thüringen, 16 Berlin`,
  FR: `11 Île-de-France, 24 Centre-Val de Loire, 27 Bourgogne-Franche-Comté, 28 Normandy/Normandie, 32 Hauts-de-France,
    44 Grand Est, 52 Pays de la Loire, 53 Brittany/Bretagne, 75 Nouvelle-Aquitaine, 76 Occitanie,
    84 Auvergne-Rhône-Alpes, 93 Provence-Alpes-Côte d’Azur, 94 Corsica/Corse`,
  IT: `01 Abruzzo, 02 Basilicata, 03 Calabria, 04 Campania, 05 Emilia-Romagna, 06 Friuli Venezia Giulia, 07 Lazio, 08 Liguria,
    09 Lombardy/Lombardia, 10 Marche, 11 Molise, 12 Piedmont/Piemonte, 13 Apulia/Puglia, 14 Sardinia/Sardegna,
    15 Sicily/Sicilia, 16 Tuscany/Toscana, 17 Trentino-Alto Adige, 18 Umbria, 19 Aosta Valley/Valle d’Aosta, 20 Veneto`,
  ES: `07 Balearic Islands/Islas Baleares, 27 La Rioja, 29 Madrid, 31 Murcia, 32 Navarre/Navarra, 34 Asturias, 39 Cantabria,
    51 Andalusia/Andalucía, 52 Aragon/Aragón, 53 Canary Islands/Canarias, 54 Castile-La Mancha/Castilla-La Mancha,
    55 Castile and León/Castilla y León, 56 Catalonia/Cataluña/Catalunya, 57 Extremadura, 58 Galicia,
    59 Basque Country/País Vasco/Euskadi, 60 Valencian Community/Comunidad Valenciana`,
  IN: `02 Andhra Pradesh, 03 Assam, 05 Chandigarh, 07 Delhi, 09 Gujarat, 10 Haryana, 11 Himachal Pradesh, 12 Jammu and Kashmir,
    13 Kerala, 16 Maharashtra, 19 Karnataka, 21 Odisha/Orissa, 22 Puducherry, 23 Punjab, 24 Rajasthan, 25 Tamil Nadu,
    28 West Bengal, 33 Goa, 34 Bihar, 35 Madhya Pradesh, 36 Uttar Pradesh, 37 Chhattisgarh, 38 Jharkhand, 39 Uttarakhand,
    40 Telangana`,
  BR: `01 Acre, 02 Alagoas, 03 Amapá, 04 Amazonas, 05 Bahia, 06 Ceará, 07 Distrito Federal, 08 Espírito Santo,
    11 Mato Grosso do Sul, 13 Maranhão, 14 Mato Grosso, 15 Minas Gerais, 16 Pará, 17 Paraíba, 18 Paraná, 20 Piauí,
    21 Rio de Janeiro, 22 Rio Grande do Norte, 23 Rio Grande do Sul, 24 Rondônia, 25 Roraima, 26 Santa Catarina, 27 São Paulo,
    28 Sergipe, 29 Goiás, 30 Pernambuco, 31 Tocantins`,
}

export const regions: readonly Region[] = Object.entries(table).flatMap(([countryCode, list]) =>
  list.split(',').map((item): Region => {
    const [, code = '', names = ''] = /^\s*(\S+) (.*)$/s.exec(item) ?? []
    return { countryCode, code, names: names.split('/') }
  }),
)
