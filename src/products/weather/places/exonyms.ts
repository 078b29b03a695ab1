export interface Exonym {
  readonly alias: string
  readonly name: string
  readonly countryCode: string
}

/*
 * Alternative names of cities by country. The format is the listed name, a colon, and the other names. The city file
 * has one name for each city, English or local, but callers use both. If a larger city has the same name, the larger
 * city is the answer, and the city of this table is an alternative.
 */
const table: Readonly<Record<string, string>> = {
  AE: 'Abu Dhabi: Abu Zabi; Dubai: Dubayy',
  AT: 'Vienna: Wien, Vienne, Viena, Wenen; Salzburg: Salzbourg',
  AZ: 'Baku: Bakı',
  BE: `Antwerpen: Antwerp, Anvers; Brugge: Bruges; Brussels: Bruxelles, Brussel, Bruselas; Gent: Ghent, Gand;
    Leuven: Louvain; Liège: Luik, Lüttich; Namur: Namen`,
  BG: 'Sofia: Sofija, София',
  BR: 'Rio de Janeiro: Rio; São Paulo: Sampa',
  BY: 'Minsk: Минск',
  CA: 'Québec: Quebec City',
  CH: `Basel: Basle, Bâle; Bern: Berne, Berna; Genève: Geneva, Genf, Ginevra; Lausanne: Losanna; Luzern: Lucerne;
    Zürich: Zurigo`,
  CN: `Beijing: Peking, 北京; Chengdu: 成都; Chongqing: Chungking; Guangzhou: Canton, 广州; Nanjing: Nanking; Shanghai: 上海;
    Shenzhen: 深圳; Tianjin: Tientsin; Xi’an: Sian`,
  CY: 'Nicosia: Lefkosia, Lefkosa',
  CZ: 'Brno: Brünn; Pilsen: Plzeň; Prague: Praha, Prag, Praga',
  DE: `Aachen: Aix-la-Chapelle; Braunschweig: Brunswick; Frankfurt am Main: Frankfurt, Francfort, Frankfurt Main;
    Freiburg: Freiburg im Breisgau; Halle (Saale): Halle; Hamburg: Hambourg; Hannover: Hanover; Köln: Cologne, Keulen;
    Mainz: Mayence; Munich: München, Monaco di Baviera; Nürnberg: Nuremberg; Regensburg: Ratisbon; Trier: Treves`,
  DK: 'Århus: Aarhus; Copenhagen: København, Kopenhagen, Copenhague',
  DZ: 'Algiers: Alger',
  EE: 'Tallinn: Reval',
  EG: 'Alexandria: Al Iskandariyah; Cairo: Al Qahirah, Le Caire, Kairo, القاهرة',
  ES: `A Coruña: La Coruña, Corunna; Córdoba: Cordova; Donostia / San Sebastián: San Sebastian, Donostia;
    Gasteiz / Vitoria: Vitoria-Gasteiz; Palma: Palma de Mallorca, Majorca; Pamplona: Iruña; Sevilla: Seville, Sevilha;
    Zaragoza: Saragossa`,
  ET: 'Addis Ababa: Addis Abeba',
  FI: 'Helsinki: Helsingfors; Tampere: Tammerfors; Turku: Åbo',
  FR: 'Lyon: Lyons; Marseille: Marseilles; Nice: Nizza; Paris: Parigi, Париж; Reims: Rheims; Strasbourg: Strassburg',
  GB: `Cardiff: Caerdydd; Edinburgh: Édimbourg; Kingston upon Hull: Hull; London: Londres, Londra, Лондон, ロンドン;
    Newcastle upon Tyne: Newcastle`,
  GE: 'Tbilisi: Tiflis',
  GR: `Athens: Athina, Athen, Athènes, Αθήνα; Irákleion: Heraklion, Iraklion, Iraklio; Pátra: Patras; Piraeus: Pireas;
    Thessaloníki: Salonica, Saloniki, Thessalonica`,
  HR: 'Rijeka: Fiume; Zagreb: Agram',
  HU: 'Budapest: Budapesta',
  IE: 'Cork: Corcaigh; Dublin: Baile Atha Cliath',
  IL: 'Jerusalem: Yerushalayim, Al-Quds; Tel Aviv: Tel Aviv-Yafo',
  IN: `Bengaluru: Bangalore; Chennai: Madras; Guwahati: Gauhati; Gurgaon: Gurugram; Cochin: Kochi; Kolkata: Calcutta;
    Kozhikode: Calicut; Mangalore: Mangaluru; Mumbai: Bombay; Mysore: Mysuru; Allahābād: Prayagraj;
    Puducherry: Pondicherry; Pune: Poona; Thiruvananthapuram: Trivandrum; Vadodara: Baroda; Varanasi: Benares;
    Visakhapatnam: Vizag`,
  IQ: 'Basrah: Basra',
  IR: 'Isfahan: Esfahan; Mashhad: Meshed; Tehran: Teheran',
  IT: `Bolzano: Bozen; Florence: Firenze, Florenz, Florencia; Genoa: Genova, Gênes, Genua; Livorno: Leghorn;
    Milan: Milano, Mailand; Mantova: Mantua; Naples: Napoli, Neapel; Padova: Padua; Rome: Roma, Rom;
    Siracusa: Syracuse; Turin: Torino; Trento: Trent; Venice: Venezia, Venedig, Venise, Venecia`,
  JP: 'Kyoto: 京都; Osaka: 大阪; Sapporo: 札幌; Tokyo: 東京, Tokio; Yokohama: 横浜',
  KH: 'Phnom Penh: Phnum Penh',
  KR: 'Busan: Pusan, 부산; Incheon: Inchon; Seoul: Soul, 서울',
  KW: 'Kuwait City: Kuwait, Al Kuwayt',
  KZ: 'Almaty: Alma-Ata; Nur-Sultan: Astana, Nursultan',
  LB: 'Beirut: Beyrouth',
  LT: 'Vilnius: Wilna, Vilna',
  LU: 'Luxembourg: Luxemburg',
  LV: 'Riga: Рига',
  LY: 'Tripoli: Tarabulus',
  MA: 'Casablanca: Dar el Beida; Fes: Fez; Marrakesh: Marrakech; Tangier: Tanger',
  MD: 'Chisinau: Kishinev',
  MM: 'Yangon: Rangoon',
  MN: 'Ulan Bator: Ulaanbaatar',
  MO: 'Macau: Macao',
  MT: 'Valletta: La Valletta',
  MX: 'Mexico City: Ciudad de México, México DF, CDMX',
  MY: 'George Town: Penang; Kuala Lumpur: KL',
  NL: 'The Hague: Den Haag, ’s-Gravenhage, La Haye, La Haya',
  NO: 'Oslo: Christiania',
  NP: 'Kathmandu: Katmandu',
  OM: 'Muscat: Masqat',
  PA: 'Panamá: Panama City',
  PH: 'Cebu City: Cebu; Manila: Maynila',
  PL: `Gdańsk: Danzig; Gdynia: Gdingen; Kraków: Cracow, Krakau, Cracovia; Łódź: Lodsch; Poznań: Posen;
    Szczecin: Stettin; Toruń: Thorn; Warsaw: Warszawa, Warschau, Varsovie, Varsovia; Wrocław: Breslau`,
  PT: 'Lisbon: Lisboa, Lissabon, Lisbonne; Porto: Oporto',
  QA: 'Doha: Ad Dawhah',
  RO: 'Bucharest: București, Bukarest, Bucarest; Cluj-Napoca: Cluj, Klausenburg; Iaşi: Jassy',
  RS: 'Belgrade: Beograd, Belgrad; Novi Sad: Neusatz',
  RU: `Kaliningrad: Königsberg; Moscow: Moskva, Moskau, Moscou, Moscú, Москва; Nizhniy Novgorod: Nizhny Novgorod;
    Rostov-na-Donu: Rostov-on-Don;
    Saint Petersburg: Sankt-Peterburg, Sankt Petersburg, Petersburg, Leningrad, Санкт-Петербург;
    Volgograd: Stalingrad; Yekaterinburg: Ekaterinburg`,
  SA: 'Jeddah: Jiddah, Jidda; Mecca: Makkah, Makkah al Mukarramah; Medina: Al Madinah; Riyadh: Ar Riyad, Riad',
  SE: 'Göteborg: Gothenburg; Stockholm: Estocolmo',
  SG: 'Singapore: Singapur, Singapour',
  SI: 'Ljubljana: Laibach',
  SK: 'Bratislava: Pressburg, Pozsony; Košice: Kaschau',
  SY: 'Aleppo: Halab; Damascus: Dimashq, Damas',
  TH: 'Bangkok: Krung Thep',
  TN: 'Tunis: Tunisi',
  TR: 'Ankara: Angora; Antalya: Adalia; Istanbul: Constantinople, Stambul; İzmir: Smyrna',
  TW: 'Kaohsiung: Gaoxiong; Taipei: Taipeh, 台北',
  UA: 'Kharkiv: Kharkov; Kyiv: Kiev, Kiew, Київ, Киев; Lviv: Lvov, Lemberg, Lwów; Odessa: Odesa',
  US: `Las Vegas: Vegas; Los Angeles: LA, L.A.; New Orleans: NOLA;
    New York City: New York, NYC, New York NY, Nova York, Нью-Йорк, ニューヨーク; Philadelphia: Philly;
    San Francisco: SF, San Fran; Washington, D.C.: Washington, Washington DC`,
  UZ: 'Tashkent: Toshkent',
  VA: 'Vatican City: Vatican',
  VN: 'Da Nang: Danang; Hanoi: Hà Nội; Ho Chi Minh City: Saigon, Thành phố Hồ Chí Minh',
  XK: 'Pristina: Prishtina',
  ZA: 'Cape Town: Kaapstad, Le Cap; Pretoria: Tshwane',
}

export const exonyms: readonly Exonym[] = Object.entries(table).flatMap(([countryCode, cities]) =>
  cities.split(/;\s+/).flatMap((city) => {
    const [name = '', others = ''] = city.split(': ')
    return others.split(', ').map((alias) => ({ alias, name, countryCode }))
  }),
)
